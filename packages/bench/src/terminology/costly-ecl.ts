import { forRequest } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { expand } from 'fhir-ops/expand'
import { objectsAt } from 'fhir-ops/internal/json'
import { SNOMED } from '@fhir-ops/snomed'
import { clinicalSystem, FULL_SHAPE } from '../content/clinical-system.js'
import { markdownTable } from '../markdown.js'
import { stretch } from './stretch.js'
import { memorySubject } from './subjects.js'

/** How long ECL that is designed to be costly blocks other work, over a release of 350,000 concepts, with the time limit of a server. */
export async function costlyEcl(): Promise<string> {
  const { ctx } = await memorySubject(objectsAt(clinicalSystem(FULL_SHAPE), 'concept'))
  const rows: string[][] = []
  for (const [name, ecl] of CASES) {
    const url = `${SNOMED}?fhir_vs=ecl/${encodeURIComponent(ecl)}`
    let answer = ''
    const { ms, longest, busy } = await stretch(async () => {
      const found = expand(forRequest(ctx, { limits: { operationTimeoutMs: 5_000 } }), { url, count: 1 })
      answer = await found.then(({ total }) => `${total} codes`, codeOf)
    })
    rows.push([name, ms, longest, busy, answer])
  }
  return markdownTable(['ECL made to be costly', 'ms', 'longest stretch ms', 'in processor time ms', 'answer'], rows)
}

const times = (count: number, text: string, separator: string): string => Array.from({ length: count }, () => text).join(separator)

const CASES: ReadonlyMap<string, string> = new Map([
  ['first use: `* {{ term = "a" }}`', '* {{ term = "a" }}'],
  ['`* : * = *`', '* : * = *'],
  ['`* {{ term = wild:"*a*" }}`', '* {{ term = wild:"*a*" }}'],
  ['950 wild terms', `* {{ term = (${times(950, 'wild:"*q"', ' ')}) }}`],
  ['20 reversed refinements in each other', `${times(20, '(* : R * = ', '')}*${times(20, ')', '')}`],
  ['`* . * . *` and so on, 900 times', `*${times(900, ' . *', '')}`],
  ['descendants of everything, 900 times', times(900, '<*', ' OR ')],
  ['490 attributes', `* : ${times(490, '*=*', ',')}`],
  ['490 reversed attributes', `* : ${times(490, 'R*=*', ',')}`],
  ['490 groups', `* : ${times(490, '[3..4]{*=*}', ' OR ')}`],
])

function codeOf(error: unknown): string {
  if (error instanceof OperationError) return error.code
  throw error
}
