export { importLoinc, type LoincImport, type LoincImportOptions } from './import/import-loinc.js'
export { importRxnorm, type RxnormImportOptions } from './import/import-rxnorm.js'
export { importSnomed, type SnomedImport, type SnomedImportOptions } from './import/import-snomed.js'
