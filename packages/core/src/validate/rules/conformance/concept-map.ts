import { shownJson } from '../../../json/index.js'
import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { conceptTexts, foldTerm, type CodeSystemProvider, type SystemFamily } from '../../../terminology/index.js'
import type { CodeList } from '../../run/definitions.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'
import { EXTERNAL, otherKindOf } from '../codes/unknown-system.js'

const CONCEPT_MAP_CODE: FindingDefinition = defineFinding(
  'concept-map-code',
  'warning',
  'required',
  'Map codes that are defined in the code system.',
)
const CONCEPT_MAP_SYSTEM: FindingDefinition = defineFinding(
  'concept-map-system',
  'warning',
  'not-found',
  'Load the code system or the value set, or correct its canonical; until then the codes are not checked.',
)
const CONCEPT_MAP_DUPLICATE: FindingDefinition = defineFinding(
  'concept-map-duplicate',
  'warning',
  'business-rule',
  'State once how a code maps to another.',
)

type SideName = 'source' | 'target'

/** The source of the codes on one side of a group. */
interface Side {
  /** The code system; `undefined` when its codes are not known. */
  readonly provider: CodeSystemProvider | undefined
  /** The severity of a code that the code system does not have. */
  readonly severity: 'error' | 'warning'
  /** Issue type of such a code. */
  readonly code: Finding['code']
  readonly scope: CodeList | undefined
  /** The unknown code system, which leaves it open whether its codes are in the scope. */
  readonly unknown: string | undefined
}

/** ConceptMaps. */
export const conceptMapRule: ResourceRule = {
  on: ['ConceptMap'],
  finds: [CONCEPT_MAP_CODE, CONCEPT_MAP_SYSTEM, CONCEPT_MAP_DUPLICATE],
  check: checkConceptMap,
}

/**
 * Checks that the codes of a ConceptMap exist in the code systems of their group with the stated display, and are in the map's source and target value
 * sets, if these are known completely; and that no mapping is stated twice.
 */
async function checkConceptMap(run: Run, node: FhirNode): Promise<void> {
  const scopes = { source: scopeOf(run, node, 'source'), target: scopeOf(run, node, 'target') }
  for (const group of childrenOf(run, node, 'group')) {
    const [source, target] = [sideOf(run, group, { name: 'source', scopes }), sideOf(run, group, { name: 'target', scopes })]
    const seen = new Map<string, string>()
    for (const element of childrenOf(run, group, 'element')) {
      checkCode(run, element, source)
      for (const one of childrenOf(run, element, 'target')) {
        checkCode(run, one, target)
        checkRepeat(run, one, { source: textOf(element, 'code'), seen })
      }
      await run.scheduler.turn()
    }
  }
}

/** The source or target value set of a map. */
interface Scope {
  readonly list: CodeList | undefined
}

function scopeOf(run: Run, map: FhirNode, name: SideName): Scope | undefined {
  const [scope] = childrenOf(run, map, name)
  if (typeof scope?.value !== 'string') return undefined
  const list = run.definitions.valueSet(scope.value)
  if (list === PENDING) return { list: undefined }
  const kind = list === undefined ? otherKindOf(run, scope.value, 'ValueSet') : undefined
  if (kind !== undefined && kind !== PENDING)
    run.findings.report(CONCEPT_MAP_SYSTEM, scope, {
      text: `${quoted(scope.value)} must be a value set, but is a ${kind}.`,
      severity: 'error',
      code: 'invalid',
    })
  return { list }
}

interface SideQuestion {
  readonly name: SideName
  readonly scopes: Readonly<Record<SideName, Scope | undefined>>
}

const NOTHING: Side = { provider: undefined, severity: 'error', code: 'required', scope: undefined, unknown: undefined }

function sideOf(run: Run, group: FhirNode, { name, scopes }: SideQuestion): Side {
  const written = textOf(group, name)
  if (written === undefined) {
    run.findings.report(CONCEPT_MAP_CODE, group, { text: `The group has no ${name}, so its ${name} codes cannot be checked.` })
    return NOTHING
  }
  const [url = '', part] = written.split('|', 2)
  const version = textOf(group, `${name}Version`) ?? part
  const family = run.definitions.codeSystem(version === undefined ? url : `${url}|${version}`)
  const definition = run.definitions.definition('CodeSystem', url)
  if (family === PENDING || definition === PENDING) return NOTHING
  const scope = scopes[name]
  if (SERVED.has(url)) return servedSide(run, group, { name, family, scope })
  if (version === undefined && !EXTERNAL.has(url)) checkVersions(run, group, family)
  return knownSide(run, group, { name, family, scope, version, content: definition?.['content'] })
}

interface Known extends Served {
  readonly version: string | undefined
  readonly content: unknown
}

function knownSide(run: Run, group: FhirNode, { name, family, scope, version, content }: Known): Side {
  const provider = family.provider(version)
  const isPartial = content === 'not-present' || content === 'example' || content === 'fragment'
  if (provider !== undefined && (provider.header.complete || !isPartial))
    return { ...NOTHING, provider, severity: provider.header.complete ? 'error' : 'warning', scope: scope?.list }
  const what = provider === undefined ? 'could not be found' : `has not all its content (${shownJson(content)})`
  if (provider !== undefined || scope === undefined)
    reportUnknown(run, group, { name, text: `The code system ${quoted(family.url)} ${what}, so ${name} codes are not checked.` })
  return { ...NOTHING, unknown: scope?.list === undefined ? undefined : family.url }
}

const LOINC = 'http://loinc.org'

/** Code systems whose codes come from imported releases. Codes that are not available are reported only within a scope. */
const SERVED: ReadonlySet<string> = new Set(['http://snomed.info/sct', LOINC])

interface Served {
  readonly name: SideName
  readonly family: SystemFamily
  readonly scope: Scope | undefined
}

function servedSide(run: Run, group: FhirNode, { name, family, scope }: Served): Side {
  const provider = family.provider(textOf(group, `${name}Version`))
  if (provider?.header.complete === true) return { ...NOTHING, provider, code: 'business-rule', scope: scope?.list }
  if (scope === undefined && family.url === LOINC)
    reportUnknown(run, group, { name, text: `The code system ${quoted(LOINC)} is not loaded, so ${name} codes are not checked.` })
  return { ...NOTHING, unknown: scope?.list === undefined ? undefined : family.url }
}

function reportUnknown(run: Run, group: FhirNode, { name, text }: { readonly name: SideName; readonly text: string }): void {
  run.findings.report(CONCEPT_MAP_SYSTEM, group, { text, at: name })
}

function checkVersions(run: Run, group: FhirNode, { url, versions }: SystemFamily): void {
  if (versions.length > 1)
    run.findings.report(CONCEPT_MAP_SYSTEM, group, {
      text: `There are several versions of ${quoted(url)}: ${versions.join(', ')}; name the one that is meant.`,
      code: 'invalid',
    })
}

function checkCode(run: Run, holder: FhirNode, side: Side): void {
  run.scheduler.step()
  const [code] = childrenOf(run, holder, 'code')
  if (typeof code?.value !== 'string') return
  const { provider, severity, code: type, scope, unknown } = side
  const say = (text: string, rest: Pick<Finding, 'severity'> & { code?: Finding['code'] }): void =>
    run.findings.report(CONCEPT_MAP_CODE, code, { text, ...rest })
  if (unknown !== undefined)
    say(
      `The code ${quoted(code.value)} is of the code system ${quoted(unknown)}, which is not known, so it is not known whether it is in the value set.`,
      {
        severity: 'warning',
        code: 'business-rule',
      },
    )
  if (provider === undefined) return
  const { url } = provider.header
  const concept = provider.find(code.value)
  if (concept === undefined) return say(`Unknown code ${quoted(code.value)} in the code system ${quoted(url)}.`, { severity, code: type })
  if (scope?.has({ system: url, code: code.value }) === 'out')
    say(`The code ${quoted(code.value)} is not in the value set ${scope.canonical}.`, { severity, code: type })
  const display = textOf(holder, 'display')
  const texts = conceptTexts(provider, concept).map(({ value }) => value)
  if (display === undefined || texts.length === 0 || texts.some((text) => foldTerm(text) === foldTerm(display))) return
  say(
    `Wrong display name ${quoted(display)} for the code ${quoted(code.value)}; valid displays: ${texts.slice(0, 5).map(quoted).join(', ')}.`,
    { severity: 'warning' },
  )
}

interface Repeats {
  readonly source: string | undefined
  /** Equivalence by source, and by source and target. */
  readonly seen: Map<string, string>
}

/** Checks that each pair of source and target occurs once in a group, and that a code which maps to nothing has no other target. */
function checkRepeat(run: Run, target: FhirNode, { source, seen }: Repeats): void {
  const [code, equivalence] = [textOf(target, 'code'), textOf(target, 'equivalence')]
  if (source === undefined || equivalence === undefined) return
  const [alone, pair] = [JSON.stringify([source]), JSON.stringify([source, code ?? null])]
  const key = code === undefined ? alone : pair
  const earlier = seen.get(key) ?? seen.get(alone)
  if (earlier !== undefined)
    run.findings.report(CONCEPT_MAP_DUPLICATE, target, {
      text: `It is already stated that ${quoted(source)} ${code === undefined ? 'maps to nothing' : `maps to ${quoted(code)}`}${earlier === equivalence ? '' : `, as ${earlier}, not as ${equivalence}`}.`,
    })
  if (!seen.has(key)) seen.set(key, equivalence)
}
