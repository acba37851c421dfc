export { importSnomed, type SnomedImport, type SnomedImportOptions } from './import-snomed.js'
