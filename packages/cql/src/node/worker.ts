import { parentPort, workerData } from 'node:worker_threads'
import type { Texts } from '../translator/kept-translations.js'
import { loadTranslator, type ModelTexts } from '../translator/translator.js'
import type { TranslatorMessage } from './worker-translator.js'

/** A text for the thread to translate. */
interface TranslationRequest {
  readonly text: string
  readonly includes: Texts
  readonly models: Texts
}

const fhir: ModelTexts | undefined = workerData
const loading = loadTranslator(fhir)
// The first text takes half a second longer than others.
loading
  .then((translate) => void translate('library Small define X: 1', new Map(), new Map()))
  .then(
    () => send({ ready: true }),
    () => send({ ready: true }), // the first text reports why
  )
parentPort?.on('message', (request: TranslationRequest) => void answer(request))

function send(message: TranslatorMessage): void {
  parentPort?.postMessage(message)
}

async function answer({ text, includes, models }: TranslationRequest): Promise<void> {
  try {
    const translate = await loading
    send({ translation: translate(text, includes, models) })
  } catch (error) {
    send({ failure: error instanceof Error ? error.message : String(error) })
  }
}
