import { parentPort, workerData } from 'node:worker_threads'
import { loadTranslator, type ModelTexts } from '../translator/translator.js'

/** What the thread is asked. */
export interface TranslationRequest {
  readonly id: number
  readonly text: string
  readonly includes: ReadonlyMap<string, string>
}

const fhir: ModelTexts | undefined = workerData
const loading = loadTranslator(fhir)
parentPort?.on('message', (request: TranslationRequest) => void answer(request))

async function answer({ id, text, includes }: TranslationRequest): Promise<void> {
  try {
    const translate = await loading
    parentPort?.postMessage({ id, translation: translate(text, includes) })
  } catch (error) {
    parentPort?.postMessage({ id, failure: error instanceof Error ? error.message : String(error) })
  }
}
