import { quoted } from '../../../errors/index.js'
import { type FhirNode, PENDING } from '../../../fhirpath/index.js'
import { isObject, type JsonObject, objectsAt, stringAt, shownJson } from '../../../json/index.js'
import { type CodeSystemProvider, conceptTexts, foldTerm } from '../../../terminology/index.js'
import type { CodeList } from '../../run/definitions.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { resourceOf, type ResourceRule, type Run } from '../../run/run.js'
import { EXTERNAL, otherKindOf } from '../codes/unknown-system.js'
import { isForExamples } from '../primitive/check-uri.js'
import { isAbsoluteUri } from '../primitive/text.js'
import { checkFilter, checkParameters, VALUE_SET_EXPRESSION, VALUE_SET_FILTER, VALUE_SET_PARAMETER } from './value-set-filter.js'

const VALUE_SET_SYSTEM: FindingDefinition = defineFinding(
  'value-set-system',
  'error',
  'invalid',
  'Use the absolute canonical URL of the code system.',
)
const VALUE_SET_IMPORT: FindingDefinition = defineFinding(
  'value-set-import',
  'warning',
  'business-rule',
  'Load the included value set, or correct its canonical.',
)
const VALUE_SET_CODE: FindingDefinition = defineFinding(
  'value-set-code',
  'error',
  'business-rule',
  'List codes that are defined in the code system.',
)
const VALUE_SET_DISPLAY: FindingDefinition = defineFinding(
  'value-set-display',
  'information',
  'informational',
  'Check that the display is of the intended code; a value set may have displays of its own.',
)

/** An expansion that does not state how it was made, or whose codes differ from those of the ValueSet. */
const VALUE_SET_EXPANSION: FindingDefinition = defineFinding(
  'value-set-expansion',
  'warning',
  'invalid',
  'Expand the value set again, and keep the parameters and versions that the expansion states.',
)

/** ValueSets. */
export const valueSetRule: ResourceRule = {
  on: ['ValueSet'],
  finds: [
    VALUE_SET_SYSTEM,
    VALUE_SET_IMPORT,
    VALUE_SET_CODE,
    VALUE_SET_DISPLAY,
    VALUE_SET_FILTER,
    VALUE_SET_EXPRESSION,
    VALUE_SET_PARAMETER,
    VALUE_SET_EXPANSION,
  ],
  check: checkValueSet,
}

/** Checks the parts of a ValueSet: systems are named by their url, codes exist, filters can be applied. Checks its expansion, too. */
async function checkValueSet(run: Run, node: FhirNode): Promise<void> {
  const declared = checkParameters(run, node)
  for (const compose of childrenOf(run, node, 'compose')) {
    for (const part of [...childrenOf(run, compose, 'include'), ...childrenOf(run, compose, 'exclude')])
      await checkPart(run, part, declared)
  }
  for (const expansion of childrenOf(run, node, 'expansion')) await checkExpansion(run, node, expansion)
}

async function checkPart(run: Run, part: FhirNode, declared: ReadonlySet<string>): Promise<void> {
  await run.scheduler.turn()
  checkImports(run, part)
  const written = textOf(part, 'system')
  if (written === undefined) return checkBare(run, part)
  const [system = '', version] = written.split('|', 2)
  if (version !== undefined) checkVersion(run, part, version)
  if (!isAbsoluteUri(system)) {
    run.findings.report(VALUE_SET_SYSTEM, part, {
      text: `The system must be an absolute URI, not ${quoted(system)}; also for a contained CodeSystem.`,
    })
    if (system.startsWith('#')) checkContained(run, part, system.slice(1))
    return
  }
  if (isOidOfOther(run, part, system)) return
  checkSystem(run, part, system)
  checkVersions(run, part, system)
  await checkConcepts(run, part, system)
  for (const filter of childrenOf(run, part, 'filter')) checkFilter(run, filter, { canonical: system, declared })
}

/** Reports concepts and filters without a system, which do not state what they belong to. */
function checkBare(run: Run, part: FhirNode): void {
  if (['concept', 'filter'].some((name) => childrenOf(run, part, name).length > 0))
    run.findings.report(VALUE_SET_SYSTEM, part, {
      text: 'There is no system, so concepts and filters cannot be checked.',
      severity: 'warning',
      code: 'business-rule',
    })
}

/** Reports a code system that is named by an OID, one of its identifiers, instead of its url. */
function isOidOfOther(run: Run, part: FhirNode, system: string): boolean {
  const urls = system.startsWith('urn:oid:') ? run.definitions.systemsWithOid(system) : []
  const others = urls === PENDING ? [] : urls.filter((url) => url !== system)
  if (others.length === 0) return false
  run.findings.report(VALUE_SET_SYSTEM, part, {
    text: `${quoted(system)} is an identifier of the code system ${others.map(quoted).join(', ')}; name it by its url.`,
  })
  return true
}

/** Reports a version in the system, because it has its own member. */
function checkVersion(run: Run, part: FhirNode, version: string): void {
  const text =
    version === ''
      ? "The system ends with '|'; a version goes into the member version."
      : `The system has the version ${quoted(version)}, which goes into the member version.`
  run.findings.report(VALUE_SET_SYSTEM, part, { text, code: 'business-rule', ...(version === '' && { severity: 'warning' }) })
}

function checkContained(run: Run, part: FhirNode, id: string): void {
  const { value } = resourceOf(part)
  const named = isObject(value) ? objectsAt(value, 'contained').filter((one) => one['id'] === id) : []
  const say = (text: string): void => run.findings.report(VALUE_SET_SYSTEM, part, { text })
  const version = textOf(part, 'version')
  const systems = named.filter((one) => one['resourceType'] === 'CodeSystem' && (version === undefined || one['version'] === version))
  const stray = named.find((one) => one['resourceType'] !== 'CodeSystem')
  if (stray !== undefined) say(`The contained resource ${quoted(id)} is a ${shownJson(stray['resourceType'])}, not a CodeSystem.`)
  if (systems.length === 0)
    say(`There is no contained CodeSystem ${quoted(id)}${version === undefined ? '' : ` of version ${quoted(version)}`}.`)
  if (systems.length > 1) say(`Several contained CodeSystems have the id ${quoted(id)}.`)
}

function checkImports(run: Run, part: FhirNode): void {
  const imports = childrenOf(run, part, 'valueSet')
  for (const one of imports) {
    if (typeof one.value !== 'string' || one.value.startsWith('#')) continue
    const list = run.definitions.valueSet(one.value)
    if (list !== undefined && list !== PENDING && list.problem !== undefined)
      run.findings.report(VALUE_SET_IMPORT, one, { text: `${list.problem}.` })
    if (list !== undefined) continue
    const kind = otherKindOf(run, one.value, 'ValueSet')
    const what = kind === undefined ? 'could not be found' : `is a ${shownJson(kind)}`
    if (kind !== PENDING) run.findings.report(VALUE_SET_IMPORT, one, { text: `The value set ${quoted(one.value)} ${what}.` })
  }
  if (imports.length > 1)
    run.findings.report(VALUE_SET_IMPORT, part, {
      text: 'Only codes that are in all of these value sets are included.',
      code: 'informational',
    })
}

/** How code systems are reported whose content is not complete. */
const CONTENT: ReadonlyMap<unknown, Pick<Finding, 'severity'>> = new Map([
  ['supplement', { severity: 'error' }],
  ['example', { severity: 'warning' }],
  ['fragment', { severity: 'information' }],
  ['not-present', { severity: 'warning' }],
])

function checkSystem(run: Run, part: FhirNode, system: string): void {
  const definition = run.definitions.definition('CodeSystem', system)
  if (definition === PENDING || EXTERNAL.has(system)) return
  if (definition === undefined) return checkUnknown(run, part, system)
  const version = textOf(part, 'version')
  if (version !== undefined && definition['version'] !== version) return
  const content = CONTENT.get(definition['content'])
  if (content === undefined || (definition['content'] === 'not-present' && isImported(run, system))) return
  const text = `The content of the code system ${quoted(system)} is ${quoted(shownJson(definition['content']))}, so it is not complete.`
  run.findings.report(VALUE_SET_SYSTEM, part, { text, ...content })
}

/** True when the codes of a definition without codes come from elsewhere, such as an imported release. */
function isImported(run: Run, system: string): boolean {
  const family = run.definitions.codeSystem(system)
  return family === PENDING || family.provider()?.header.complete === true
}

function checkUnknown(run: Run, part: FhirNode, system: string): void {
  const valueSet = run.definitions.valueSet(system)
  const family = run.definitions.codeSystem(system)
  if (valueSet === PENDING || family === PENDING || !family.unknown) return
  const concepts = childrenOf(run, part, 'concept').length
  if (valueSet !== undefined)
    run.findings.report(VALUE_SET_SYSTEM, part, { text: `${quoted(system)} is a value set, not a code system; include it with valueSet.` })
  else if (concepts > 0 && resourceOf(part).slot?.name !== 'contained')
    run.findings.report(VALUE_SET_SYSTEM, part, {
      text: `The code system ${quoted(system)} could not be found, so its codes are not checked.`,
      severity: isForExamples(system) ? exampleSeverity(run) : concepts > 1 ? 'information' : 'warning',
      code: 'business-rule',
    })
}

/** Examples are allowed unless a caller refuses them. */
function exampleSeverity({ policy }: Run): Finding['severity'] {
  return policy.refuses.has('examples') ? 'error' : 'information'
}

/** Reports that several versions exist and none is named. */
function checkVersions(run: Run, part: FhirNode, system: string): void {
  const family = textOf(part, 'version') === undefined && !EXTERNAL.has(system) ? run.definitions.codeSystem(system) : PENDING
  if (family === PENDING || family.versions.length < 2) return
  run.findings.report(VALUE_SET_SYSTEM, part, {
    text: `There are several versions of ${quoted(system)}: ${family.versions.join(', ')}; name the one that is meant.`,
    at: 'system',
    severity: 'warning',
  })
}

async function checkConcepts(run: Run, part: FhirNode, system: string): Promise<void> {
  const concepts = childrenOf(run, part, 'concept')
  checkDisplays(run, part, concepts)
  const version = textOf(part, 'version')
  const canonical = version === undefined ? system : `${system}|${version}`
  const family = concepts.length === 0 || EXTERNAL.has(system) ? PENDING : run.definitions.codeSystem(canonical)
  const provider = family === PENDING ? undefined : family.provider(version)
  if (family !== PENDING && provider === undefined && !family.unknown) reportVersion(run, part, canonical)
  if (provider === undefined || !provider.header.complete) return
  for (const concept of concepts) {
    run.scheduler.step()
    await run.scheduler.turn()
    checkConcept(run, concept, provider)
  }
}

function reportVersion(run: Run, part: FhirNode, canonical: string): void {
  run.findings.report(VALUE_SET_SYSTEM, part, {
    text: `The code system ${quoted(canonical)} could not be found in this version, so its codes are not checked.`,
    severity: 'warning',
    code: 'business-rule',
  })
}

function checkConcept(run: Run, concept: FhirNode, provider: CodeSystemProvider): void {
  const code = textOf(concept, 'code')
  if (code === undefined) return
  const found = provider.find(code)
  if (found === undefined) {
    run.findings.report(VALUE_SET_CODE, concept, {
      text: `Unknown code ${quoted(code)} in the code system ${quoted(provider.header.url)}.`,
    })
    return
  }
  const display = textOf(concept, 'display')
  const texts = conceptTexts(provider, found).map(({ value }) => value)
  if (display === undefined || texts.length === 0 || texts.some((text) => foldTerm(text) === foldTerm(display))) return
  run.findings.report(VALUE_SET_DISPLAY, concept, {
    text: `${quoted(display)} is not a display of ${quoted(code)} in the code system; its displays are ${texts.slice(0, 5).map(quoted).join(', ')}.`,
  })
}

/** Checks that all concepts or none have a display, and that all displays of SNOMED CT or none have a semantic tag. */
function checkDisplays(run: Run, part: FhirNode, concepts: readonly FhirNode[]): void {
  const displays = concepts.map(({ value }) => (isObject(value) ? stringAt(value, 'display') : undefined))
  const given = displays.filter((display) => display !== undefined)
  const say = (text: string): void => run.findings.report(VALUE_SET_DISPLAY, part, { text, code: 'business-rule' })
  if (given.length > 0 && given.length < displays.length) say('Some of the concepts have a display, and some have none.')
  if (textOf(part, 'system') !== 'http://snomed.info/sct') return
  const tagged = given.filter((display) => /\([^()]{1,18}\)$/.test(display)).length
  if (tagged > 0 && tagged < given.length) say('Some of the displays end with a semantic tag, and some do not.')
}

/** A code of an expansion. */
interface Contained {
  readonly system: string
  readonly version: string | undefined
  readonly code: string
}

/** Checks an expansion: it states how and from which versions it was made, and it has the codes of the ValueSet. */
async function checkExpansion(run: Run, valueSet: FhirNode, expansion: FhirNode): Promise<void> {
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
    .flatMap((parameter) => childrenOf(run, parameter, 'value').map(({ value }) => shownJson(value)))
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
