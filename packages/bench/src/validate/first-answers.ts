import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isObject } from 'fhir-ops/internal/json'
import { markdownTable } from '../markdown.js'

const PROCESSES = 9

/** Time of fresh processes until their first answer. The minimum counts, because other processes only lengthen it. */
export function firstAnswers(): string {
  const entry = fileURLToPath(new URL('./first-answer.js', import.meta.url))
  const taken = Array.from({ length: PROCESSES }, () => {
    const start = performance.now()
    const { stdout } = spawnSync(process.execPath, [entry], { encoding: 'utf8' })
    const printed: unknown = JSON.parse(stdout)
    const millisecondsAt = (name: string): number => (isObject(printed) ? Number(printed[name]) : Number.NaN)
    return {
      process: performance.now() - start,
      processProcessor: millisecondsAt('processorMs'),
      afterImport: millisecondsAt('afterImportMs'),
      afterImportProcessor: millisecondsAt('afterImportProcessorMs'),
    }
  })
  const least = (of: (one: (typeof taken)[number]) => number): string => Math.min(...taken.map(of)).toFixed(0)
  return markdownTable(
    ['first answer of a fresh process, profile of the size of US Core', 'ms', 'processor time ms'],
    [
      [
        'from the end of its imports: context, profile, validation',
        least(({ afterImport }) => afterImport),
        least(({ afterImportProcessor }) => afterImportProcessor),
      ],
      ['the whole process', least((one) => one.process), least(({ processProcessor }) => processProcessor)],
    ],
  )
}
