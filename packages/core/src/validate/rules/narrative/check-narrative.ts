import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import { finished, type Work } from '../../../work/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { resourceOf, type Run, type DemandRule, type NodeRule } from '../../run/run.js'
import { INVARIANT } from '../constraint/invariant.js'
import { containerOf } from '../reference/resolve-locally.js'
import { narrativeWork, readNarrative, type Narrative, type NarrativeLanguage } from './read-narrative.js'

const NARRATIVE_SECTIONS: FindingDefinition = defineFinding(
  'narrative-sections',
  'error',
  'business-rule',
  'Add or remove sections by language as the profile requires.',
)
const NARRATIVE_LANGUAGE: FindingDefinition = defineFinding(
  'narrative-language',
  'warning',
  'business-rule',
  'Use the language of the resource in the narrative.',
)
const NARRATIVE: FindingDefinition = defineFinding(
  'narrative',
  'error',
  'invalid',
  'Use only the elements and attributes of XHTML that FHIR allows, in one well-formed div.',
)

const TXT_1 = 'txt-1: The narrative may only have the basic elements and attributes of HTML, links, images, and styles that load nothing.'

/** Narratives. */
export const narrativeRule: NodeRule = {
  on: ['xhtml'],
  finds: [INVARIANT, NARRATIVE, NARRATIVE_LANGUAGE],
  check: checkNarrative,
}

/** Checks the XHTML of a narrative: markup, links, and that its language is the resource's. */
function checkNarrative(run: Run, node: FhirNode): void {
  const { value } = node
  if (typeof value !== 'string') return
  if (value.length <= SHORT) return checkRead(run, node, readNarrative(value))
  run.scheduler.later(async () => checkRead(run, node, await run.scheduler.run(narrativeWork(value))))
}

/** Characters that are read in less time than others can wait. */
const SHORT = 100_000

function checkRead(run: Run, node: FhirNode, narrative: Narrative): void {
  if (narrative.hasForeignMarkup) run.findings.report(INVARIANT, node, { text: TXT_1 })
  for (const text of narrative.problems) run.findings.report(NARRATIVE, node, { text })
  if (narrative.hasSpaceAttribute)
    run.findings.report(NARRATIVE, node, { text: "The attribute 'xml:space' has no effect in a narrative.", severity: 'information' })
  if (!narrative.hasContent)
    run.findings.report(NARRATIVE, node, { text: 'The narrative should have some content: text or an image.', severity: 'warning' })
  const outer = narrative.fragments.filter((fragment) => !narrative.ids.has(fragment))
  if (outer.length > 0) run.scheduler.later(() => checkFragments(run, node, outer))
  if (narrative.sources.length > 0) run.scheduler.later(() => checkImages(run, node, narrative.sources))
  checkLanguage(run, node, narrative)
}

/** A link within the document leads to an element with that id, or to a narrative's anchor. */
async function checkFragments(run: Run, node: FhirNode, fragments: readonly string[]): Promise<void> {
  const ids = await run.scheduler.run(anchorsWork(run, run.root.type.name === 'Bundle' ? run.root : containerOf(node)))
  for (const fragment of fragments) {
    await run.scheduler.turn()
    if (fragment !== '' && !ids.has(fragment))
      run.findings.report(NARRATIVE, node, { text: `The hyperlink ${quoted(`#${fragment}`)} does not resolve.` })
  }
}

/** An image is in the resource, not in another of the document. A warning, because R4's own examples have images that are not there. */
async function checkImages(run: Run, node: FhirNode, sources: readonly string[]): Promise<void> {
  const ids = await run.scheduler.run(anchorsWork(run, containerOf(node)))
  for (const source of sources) {
    await run.scheduler.turn()
    if (ids.has(source)) continue
    run.findings.report(NARRATIVE, node, {
      text: `The narrative has an image ${quoted(`#${source}`)}, which does not resolve.`,
      severity: 'warning',
    })
  }
}

/** A narrative is in the language of its resource, and nothing in it is outside of its sections by language, if it has some. */
function checkLanguage(run: Run, node: FhirNode, narrative: Narrative): void {
  const { sections, hasUnsectioned } = narrative
  if (sections.length > 0 && hasUnsectioned)
    run.findings.report(NARRATIVE_LANGUAGE, node, { text: 'The narrative has content outside its language sections.' })
  const resource = resourceOf(node)
  const own = isObject(resource.value) ? stringAt(resource.value, 'language') : undefined
  const { lang, xmlLang } = languageOf(narrative)
  if (own === undefined || (lang === own && xmlLang === own)) return
  const stated = [lang, xmlLang].map((one) => (one === undefined ? 'none' : quoted(one))).join(' and ')
  run.findings.report(NARRATIVE_LANGUAGE, resource, {
    text: `The resource is in ${quoted(own)}, but lang and xml:lang of its narrative are ${stated}.`,
  })
}

/** That of the outermost element; where there are only sections by language, that of the first. */
function languageOf({ language, sections: [first], hasUnsectioned }: Narrative): NarrativeLanguage {
  const isSilent = language.lang === undefined && language.xmlLang === undefined
  return isSilent && !hasUnsectioned && first !== undefined ? first : language
}

/** Sections of narratives by language. */
export const languageSectionRule: DemandRule = {
  name: 'narrative-sections',
  finds: [NARRATIVE_SECTIONS],
  appliesTo: ({ value }) => value.sections !== undefined,
  check: (run, node, rules) => {
    for (const rule of rules) checkLanguageSections(run, node, rule)
  },
}

/**
 * Checks that a narrative has sections in the languages that a profile demands: none (`_no`), any (`_yes`), the resource's (`_resource`),
 * or one that is named.
 */
function checkLanguageSections(run: Run, node: FhirNode, { value: { sections = [] }, profile }: ElementRule): void {
  const div = isObject(node.value) ? stringAt(node.value, 'div') : undefined
  if (div === undefined) return
  const resource = resourceOf(node).value
  const own = isObject(resource) ? stringAt(resource, 'language') : undefined
  const languages = readNarrative(div).sections.flatMap(({ lang, xmlLang }) => xmlLang ?? lang ?? [])
  for (const demand of sections) {
    const text = problemOf(languages, demand, own)
    if (text !== undefined) run.findings.report(NARRATIVE_SECTIONS, node, { text, profile })
  }
}

function problemOf(languages: readonly string[], demand: string, own: string | undefined): string | undefined {
  if (demand === '_no')
    return languages.length > 0
      ? `The narrative has sections in ${quoted(languages.join(', '))}, but language sections are not allowed.`
      : undefined
  if (demand === '_yes') return languages.length === 0 ? 'The narrative must have language sections.' : undefined
  const needed = demand === '_resource' ? own : demand
  return needed === undefined || languages.includes(needed)
    ? undefined
    : `The narrative must have a section in the language ${quoted(needed)}.`
}

/** Every id in a resource that a link can mean, with the number of places that have it, gathered once. */
export function anchorsOf(run: Run, resource: FhirNode): ReadonlyMap<string, number> {
  return finished(anchorsWork(run, resource))
}

/** The same, while other work runs in between. */
function* anchorsWork(run: Run, { value }: FhirNode): Work<ReadonlyMap<string, number>> {
  if (!isObject(value)) return new Map()
  const known = run.indexes.anchors.get(value)
  if (known !== undefined) return known
  const ids = new Map<string, number>()
  yield* collect(value, ids)
  run.indexes.anchors.set(value, ids)
  return ids
}

/** Every id in a JSON value, also those of contained resources and of anchors in narratives. */
function* collect(value: object, ids: Map<string, number>): Work<void> {
  yield
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null) yield* collect(member, ids)
    else if (typeof member !== 'string') continue
    else if (key === 'id') count(ids, member)
    else if (key === 'div') for (const id of (yield* narrativeWork(member)).ids) count(ids, id)
  }
}

function count(ids: Map<string, number>, id: string): void {
  ids.set(id, (ids.get(id) ?? 0) + 1)
}
