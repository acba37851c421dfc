import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { conceptTexts, foldTerm, type CodeSystemProvider } from '../../../terminology/index.js'
import type { CodeList } from '../../run/definitions.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'

const CONCEPT_MAP_CODE: FindingDefinition = defineFinding(
  'concept-map-code',
  'warning',
  'required',
  'Map codes that are defined in the code system.',
)

/** What the codes on one side of a group are taken from. */
interface Side {
  /** Where it is known completely. */
  readonly provider: CodeSystemProvider | undefined
  readonly scope: CodeList | undefined
}

/** ConceptMaps. */
export const conceptMapRule: ResourceRule = {
  on: ['ConceptMap'],
  finds: [CONCEPT_MAP_CODE],
  check: checkConceptMap,
}

/**
 * Checks that the codes of a ConceptMap exist in the code systems of their group with the display that is given, and are in the value sets
 * that the map is from and to, where these are known completely.
 */
async function checkConceptMap(run: Run, node: FhirNode): Promise<void> {
  const [from, to] = [scopeOf(run, node, 'source'), scopeOf(run, node, 'target')]
  for (const group of childrenOf(run, node, 'group')) {
    const source = { provider: systemOf(run, group, 'source'), scope: from }
    const target = { provider: systemOf(run, group, 'target'), scope: to }
    for (const element of childrenOf(run, group, 'element')) {
      checkCode(run, element, source)
      for (const one of childrenOf(run, element, 'target')) checkCode(run, one, target)
      await run.scheduler.turn()
    }
  }
}

function scopeOf(run: Run, map: FhirNode, name: 'source' | 'target'): CodeList | undefined {
  const [scope] = childrenOf(run, map, name)
  const list = typeof scope?.value === 'string' ? run.definitions.valueSet(scope.value) : undefined
  return list === PENDING ? undefined : list
}

function systemOf(run: Run, group: FhirNode, name: 'source' | 'target'): CodeSystemProvider | undefined {
  const url = textOf(group, name)
  const version = textOf(group, `${name}Version`)
  if (url === undefined)
    run.findings.report(CONCEPT_MAP_CODE, group, { text: `The group has no ${name}, so its ${name} codes cannot be checked.` })
  const family = url === undefined ? PENDING : run.definitions.codeSystem(version === undefined ? url : `${url}|${version}`)
  const provider = family === PENDING ? undefined : family.provider(version)
  return provider?.header.complete === true ? provider : undefined
}

function checkCode(run: Run, holder: FhirNode, { provider, scope }: Side): void {
  run.scheduler.step()
  const [code] = childrenOf(run, holder, 'code')
  if (provider === undefined || typeof code?.value !== 'string') return
  const { url } = provider.header
  const concept = provider.find(code.value)
  const say = (text: string): void => run.findings.report(CONCEPT_MAP_CODE, code, { text })
  if (concept === undefined) return say(`Unknown code ${quoted(code.value)} in the code system ${quoted(url)}.`)
  if (scope?.has({ system: url, code: code.value }) === 'out')
    say(`The code ${quoted(code.value)} is not in the value set ${scope.canonical}.`)
  const display = textOf(holder, 'display')
  const texts = conceptTexts(provider, concept).map(({ value }) => value)
  if (display === undefined || texts.length === 0 || texts.some((text) => foldTerm(text) === foldTerm(display))) return
  say(
    `Wrong display name ${quoted(display)} for the code ${quoted(code.value)}; valid displays: ${texts.slice(0, 5).map(quoted).join(', ')}.`,
  )
}
