export { openWorkerTranslator, type WorkerTranslator, type WorkerTranslatorOptions } from './worker-translator.js'
