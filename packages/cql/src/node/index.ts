export { createWorkerTranslator, type WorkerTranslator, type WorkerTranslatorOptions } from './worker-translator.js'
