export { createTranslator, type CqlTranslator, type Translation, type TranslationProblem, type TranslatorOptions } from './translator.js'
