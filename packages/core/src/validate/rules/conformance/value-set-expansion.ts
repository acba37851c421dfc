import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../../json/index.js'
import { quoted } from '../../../errors/index.js'
import type { CodeList } from '../../run/definitions.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'

/** An expansion that does not state how it was made, or whose codes differ from those of the ValueSet. */
export const VALUE_SET_EXPANSION: FindingDefinition = defineFinding(
  'value-set-expansion',
  'warning',
  'invalid',
  'Expand the value set again, and keep the parameters and versions that the expansion states.',
)

/** A code of an expansion. */
interface Contained {
  readonly system: string
  readonly version: string | undefined
  readonly code: string
}

/** Checks an expansion: it states how and from which versions it was made, and it has the codes of the ValueSet. */
export async function checkExpansion(run: Run, valueSet: FhirNode, expansion: FhirNode): Promise<void> {
  const parameters = childrenOf(run, expansion, 'parameter')
  const say = (text: string, rest: Pick<Parameters<Run['findings']['report']>[2], 'severity' | 'code'> = {}): void =>
    run.findings.report(VALUE_SET_EXPANSION, expansion, { text, ...rest })
  if (parameters.every((parameter) => (textOf(parameter, 'name') ?? '').startsWith('used-')))
    say('The expansion has no parameters, so it is not clear what it can be used for.', { code: 'business-rule' })
  if (textOf(expansion, 'identifier') === undefined)
    say('The expansion has no identifier, by which it could be traced.', { severity: 'information', code: 'business-rule' })
  const contained: Contained[] = []
  let count = 0
  const open = [...childrenOf(run, expansion, 'contains')]
  for (const one of open) {
    count++
    await run.scheduler.turn()
    const [system, version, code] = ['system', 'version', 'code'].map((name) => textOf(one, name))
    if (system !== undefined && code !== undefined) contained.push({ system, version, code })
    for (const inner of childrenOf(run, one, 'contains')) open.push(inner)
  }
  checkTotal(run, expansion, count)
  checkSystems(run, expansion, { contained, parameters })
  if (isObject(valueSet.value) && valueSet.value['compose'] !== undefined)
    await checkCodes(run, expansion, { valueSet: valueSet.value, contained })
}

function checkTotal(run: Run, expansion: FhirNode, count: number): void {
  const { total, offset } = isObject(expansion.value) ? expansion.value : {}
  if (typeof total !== 'number' || typeof offset !== 'number' || offset + count <= total) return
  run.findings.report(VALUE_SET_EXPANSION, expansion, {
    text: `The offset ${offset} and the ${count} codes listed here exceed the total of ${total}.`,
  })
}

interface Stated {
  readonly contained: readonly Contained[]
  readonly parameters: readonly FhirNode[]
}

/** Checks that the version of each code system is known, from its codes or from one parameter. */
function checkSystems(run: Run, expansion: FhirNode, { contained, parameters }: Stated): void {
  const used = parameters
    .filter((parameter) => textOf(parameter, 'name') === 'used-codesystem')
    .flatMap((parameter) => childrenOf(run, parameter, 'value').map(({ value }) => String(value)))
  const bare = new Set(contained.filter(({ version }) => version === undefined).map(({ system }) => system))
  for (const system of bare) {
    const versions = new Set(used.filter((canonical) => canonical.startsWith(`${system}|`)))
    if (versions.size === 1) continue
    const text =
      versions.size === 0
        ? `The code system ${quoted(system)} is used without a version, so a parameter used-codesystem should name it.`
        : `The code system ${quoted(system)} is used without a version, but several parameters used-codesystem name one.`
    run.findings.report(VALUE_SET_EXPANSION, expansion, { text, ...(versions.size > 1 && { severity: 'error' }) })
  }
}

interface Compared {
  readonly valueSet: JsonObject
  readonly contained: readonly Contained[]
}

async function checkCodes(run: Run, expansion: FhirNode, { valueSet, contained }: Compared): Promise<void> {
  const list = run.definitions.givenValueSet(compositionOf(valueSet))
  if (list === undefined || list === PENDING) return
  const surplus: string[] = []
  for (const code of contained) {
    await run.scheduler.turn()
    if (list.has(code) === 'out') surplus.push(code.code)
  }
  const say = (codes: readonly string[], what: string): void => {
    if (codes.length > 0)
      run.findings.report(VALUE_SET_EXPANSION, expansion, {
        text: `The expansion ${what}: ${codes.slice(0, 5).join(', ')}${codes.length > 5 ? ' ...' : ''}.`,
      })
  }
  say(missingIn(list, contained, expansion), 'lacks codes that the value set gives')
  say(surplus, 'has codes that the value set does not give')
}

/** ValueSets without expansion. The object must be the same for the same ValueSet, because answers are kept by it. */
const COMPOSITIONS = new WeakMap<JsonObject, JsonObject>()

function compositionOf(valueSet: JsonObject): JsonObject {
  const known = COMPOSITIONS.get(valueSet)
  if (known !== undefined) return known
  const { expansion: _, ...rest } = valueSet
  COMPOSITIONS.set(valueSet, rest)
  return rest
}

/** Codes of the value set that the expansion lacks; none for a page of an expansion, whose other codes are on other pages. */
function missingIn(list: CodeList, contained: readonly Contained[], { value }: FhirNode): readonly string[] {
  const total = isObject(value) ? value['total'] : undefined
  if (typeof total === 'number' && total > contained.length) return []
  const given = new Set(contained.map(({ system, code }) => `${system}#${code}`))
  return list.members().flatMap(({ system, code }) => (given.has(`${system}#${code}`) ? [] : [code]))
}
