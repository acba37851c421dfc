export { importLoinc, type LoincImport, type LoincImportOptions } from './import-loinc.js'
export { importRxnorm, type RxnormImportOptions } from './import-rxnorm.js'
