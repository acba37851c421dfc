import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt } from '../../../json/index.js'
import { conceptTexts, foldTerm, type CodeSystemProvider } from '../../../terminology/index.js'
import { defineFinding, type FindingDefinition, type Finding } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { resourceOf, type Run, type ResourceRule } from '../../run/run.js'
import { EXTERNAL, otherKindOf } from '../codes/unknown-system.js'
import { isForExamples } from '../primitive/check-uri.js'
import { isAbsoluteUri } from '../primitive/uri.js'
import { checkExpansion, VALUE_SET_EXPANSION } from './value-set-expansion.js'
import { checkFilter, VALUE_SET_FILTER } from './value-set-filter.js'
import { checkParameters, VALUE_SET_EXPRESSION, VALUE_SET_PARAMETER } from './value-set-parameters.js'

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
  if (stray !== undefined) say(`The contained resource ${quoted(id)} is a ${String(stray['resourceType'])}, not a CodeSystem.`)
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
    const what = kind === undefined ? 'could not be found' : `is a ${String(kind)}`
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
  const text = `The content of the code system ${quoted(system)} is ${quoted(String(definition['content']))}, so it is not complete.`
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
