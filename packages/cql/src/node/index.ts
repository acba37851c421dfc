export { openWorkerTranslator, type WorkerTranslator, type WorkerTranslatorOptions } from './worker-translator.js'
export { evaluateInThreads, type MeasureThread, type MeasureThreadsOptions, type OpenMeasureThread } from './measure-threads.js'
