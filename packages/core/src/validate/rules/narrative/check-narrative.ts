import { quoted } from '../../../errors/index.js'
import type { FhirNode, TypeDefinition } from '../../../fhirpath/index.js'
import { isObject, type JsonObject, objectsAt, stringAt } from '../../../json/index.js'
import { finished, type Work } from '../../../work/index.js'
import { extensionValues } from '../../profile/value-rule.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type Finding, type FindingDefinition, INVARIANT, type Report } from '../../run/finding.js'
import { childrenOf } from '../../run/nodes.js'
import { type DemandRule, type NodeRule, resourceOf, type Run } from '../../run/run.js'
import { expressionProblem } from '../expression/expression-problem.js'
import { hasOpenDirection, STRING_CONTROL } from '../primitive/text.js'
import { containerOf, resolveLocally } from '../reference/resolve-locally.js'
import { unescaped } from './allowed-markup.js'
import { isUnremarkable, languageIfPlain } from './plain-narrative.js'
import { type Narrative, type NarrativeLanguage, narrativeWork, readNarrative } from './read-narrative.js'

const NARRATIVE_SECTIONS: FindingDefinition = defineFinding(
  'narrative-sections',
  'error',
  'business-rule',
  'Add or remove sections by language as the profile requires.',
)
const NARRATIVE_SOURCE: FindingDefinition = defineFinding(
  'narrative-source',
  'error',
  'business-rule',
  'Give each part of the narrative the class generated, boilerplate or original.',
)
const NARRATIVE_LANGUAGE: FindingDefinition = defineFinding(
  'narrative-language',
  'warning',
  'business-rule',
  'Use the language of the resource in the narrative.',
)
const NARRATIVE_STRUCTURE: FindingDefinition = defineFinding(
  'narrative-structure',
  'error',
  'structure',
  'Put elements only where HTML has them: rows into tables, items into lists, blocks next to paragraphs.',
)
const NARRATIVE_IDS: FindingDefinition = defineFinding(
  'narrative-ids',
  'warning',
  'business-rule',
  'Give each element of the narrative an id of its own.',
)
const NARRATIVE: FindingDefinition = defineFinding(
  'narrative',
  'error',
  'invalid',
  'Use only the elements and attributes of XHTML that FHIR allows, in one well-formed div.',
)

const TXT_1 = 'txt-1: The narrative may only have the basic elements and attributes of HTML, links, images, and styles that load nothing.'
const TXT_2 = 'txt-2: The narrative must have some content that is not white space: text or an image.'

/** Narratives. */
export const narrativeRule: NodeRule = {
  on: ['xhtml'],
  finds: [INVARIANT, NARRATIVE, NARRATIVE_STRUCTURE, NARRATIVE_IDS, NARRATIVE_LANGUAGE, STRING_CONTROL],
  when: () => (value, run) => typeof value !== 'string' || value.length > SHORT || !isUsual(run, value),
  check: checkNarrative,
}

/** Whether there is nothing to report about a narrative, and no link in it to follow. Otherwise what was read of it is kept for the visit. */
function isUsual(run: Run, xhtml: string): boolean {
  const own = ownLanguage(run.quickCheck.within)
  const isSilent = !isTurned(xhtml)
  const plain = isSilent ? languageIfPlain(xhtml) : undefined
  if (plain !== undefined && (own === undefined || isIn(plain, own))) return true
  const { narratives } = run.indexes
  if (narratives.has(xhtml)) return false
  const narrative = plain === undefined ? readNarrative(xhtml) : { ...PLAIN, language: plain }
  if (isSilent && own === undefined && isUnremarkable(narrative)) return true
  narratives.set(xhtml, narrative)
  return false
}

/** What is checked of a plain narrative besides its language. */
const PLAIN: Omit<Narrative, 'language'> = {
  problems: [],
  misplaced: [],
  ids: new Map(),
  unusualLinks: [],
  fragments: [],
  sources: [],
  sections: [],
  hasUnsectioned: true,
  hasSpaceAttribute: false,
  unsourced: [],
  hasContent: true,
  hasForeignMarkup: false,
}

function isIn({ lang, xmlLang }: NarrativeLanguage, language: string): boolean {
  return lang === language && xmlLang === language
}

/** References to characters that change the direction of writing. */
const TURNS = /&#(?:x0*20(?:2[A-E]|6[6-9])|0*82(?:3[4-8]|9[4-7]));/i

/** Whether a change of the direction of writing is not ended within the narrative. */
function isTurned(xhtml: string): boolean {
  return hasOpenDirection(TURNS.test(xhtml) ? unescaped(xhtml) : xhtml)
}

function ownLanguage(node: FhirNode): string | undefined {
  const { value } = resourceOf(node)
  return isObject(value) ? stringAt(value, 'language') : undefined
}

/** Checks the XHTML of a narrative: its markup, its links, and that it is in the language of the resource. */
function checkNarrative(run: Run, node: FhirNode): void {
  const { value } = node
  if (typeof value !== 'string') return
  if (value.length <= SHORT) return checkRead(run, node, run.indexes.narratives.get(value) ?? readNarrative(value))
  run.scheduler.later(async () => checkRead(run, node, await run.scheduler.run(narrativeWork(value))))
}

/** Maximum number of characters that are read without letting other requests run. */
const SHORT = 100_000

function checkRead(run: Run, node: FhirNode, narrative: Narrative): void {
  if (narrative.hasForeignMarkup) run.findings.report(INVARIANT, node, { text: TXT_1 })
  for (const text of narrative.problems) run.findings.report(NARRATIVE, node, { text })
  if (narrative.hasSpaceAttribute)
    run.findings.report(NARRATIVE, node, { text: "The attribute 'xml:space' has no effect in a narrative.", severity: 'information' })
  if (!narrative.hasContent) run.findings.report(INVARIANT, node, { text: TXT_2 })
  for (const text of narrative.misplaced) run.findings.report(NARRATIVE_STRUCTURE, node, { text })
  for (const link of narrative.unusualLinks)
    run.findings.report(NARRATIVE, node, {
      text: `The scheme of the hyperlink ${quoted(link)} is not widely supported and should be checked.`,
      severity: 'information',
    })
  if (typeof node.value === 'string' && isTurned(node.value))
    run.findings.report(STRING_CONTROL, node, { text: 'The narrative contains a change of text direction that is not closed.' })
  checkIds(run, node, narrative)
  const { fragments } = narrative
  if (fragments.length > 0) run.scheduler.later(() => checkFragments(run, node, fragments))
  if (narrative.sources.length > 0) run.scheduler.later(() => checkImages(run, node, narrative.sources))
  checkLanguage(run, node, narrative)
}

function checkIds(run: Run, node: FhirNode, { ids }: Narrative): void {
  const several = [...ids].flatMap(([id, count]) => (count > 1 ? [`${quoted(id)} (${count} times)`] : []))
  if (several.length > 0) run.findings.report(NARRATIVE_IDS, node, { text: `The narrative has ids more than once: ${several.join(', ')}.` })
}

/** Checks that links within the document lead to an element with that id or to an anchor of a narrative, first in the resource, then in the Bundle. */
async function checkFragments(run: Run, node: FhirNode, fragments: readonly string[]): Promise<void> {
  const inside = await run.scheduler.run(anchorsWork(run, containerOf(node)))
  const around = run.root.type.name === 'Bundle' ? await run.scheduler.run(anchorsWork(run, run.root)) : inside
  for (const fragment of new Set(fragments)) {
    await run.scheduler.turn()
    const count = fragment === '' ? 1 : (inside.get(fragment) ?? around.get(fragment) ?? 0)
    const link = quoted(`#${fragment}`)
    if (count === 0) run.findings.report(NARRATIVE, node, { text: `The hyperlink ${link} does not resolve.` })
    if (count > 1) run.findings.report(NARRATIVE, node, { text: `The hyperlink ${link} leads to ${count} elements.`, severity: 'warning' })
  }
}

/** Checks that images are in the resource itself, not in another one of the document. A warning, because R4's own examples have missing images. */
async function checkImages(run: Run, node: FhirNode, sources: readonly string[]): Promise<void> {
  const ids = await run.scheduler.run(anchorsWork(run, containerOf(node)))
  for (const source of sources) {
    await run.scheduler.turn()
    const count = ids.get(source) ?? 0
    if (count > 1) run.findings.report(NARRATIVE, node, { text: `The image ${quoted(`#${source}`)} leads to ${count} elements.` })
    if (count > 0) continue
    run.findings.report(NARRATIVE, node, {
      text: `The narrative has an image ${quoted(`#${source}`)}, which does not resolve.`,
      severity: 'warning',
    })
  }
}

/** Checks that a narrative is in the language of its resource, and that it has no content outside its language sections, if it has some. */
function checkLanguage(run: Run, node: FhirNode, narrative: Narrative): void {
  const { sections, hasUnsectioned } = narrative
  if (sections.length > 0 && hasUnsectioned)
    run.findings.report(NARRATIVE_LANGUAGE, node, { text: 'The narrative has content outside its language sections.' })
  const resource = resourceOf(node)
  const own = isObject(resource.value) ? stringAt(resource.value, 'language') : undefined
  const { lang, xmlLang } = languageOf(narrative)
  if (own === undefined || isIn({ lang, xmlLang }, own)) return
  const stated = [lang, xmlLang].map((one) => (one === undefined ? 'none' : quoted(one))).join(' and ')
  run.findings.report(NARRATIVE_LANGUAGE, resource, {
    text: `The resource is in ${quoted(own)}, but lang and xml:lang of its narrative are ${stated}.`,
  })
}

/** The language of the outermost element or, if there are only language sections, of the first section. */
function languageOf({ language, sections: [first], hasUnsectioned }: Narrative): NarrativeLanguage {
  const isSilent = language.lang === undefined && language.xmlLang === undefined
  return isSilent && !hasUnsectioned && first !== undefined ? first : language
}

/** Language sections of narratives. */
export const languageSectionRule: DemandRule = {
  name: 'narrative-sections',
  finds: [NARRATIVE_SECTIONS],
  appliesTo: ({ value }) => value.sections !== undefined,
  checkBy: (rules) => (run, node) => {
    for (const rule of rules) checkLanguageSections(run, node, rule)
  },
}

/**
 * Checks that a narrative has sections in the languages that a profile requires: none (`_no`), any (`_yes`), the resource's (`_resource`),
 * or the one that is named.
 */
function checkLanguageSections(run: Run, node: FhirNode, { value: { sections = [] }, profile }: ElementRule): void {
  const div = isObject(node.value) ? stringAt(node.value, 'div') : undefined
  if (div === undefined) return
  const resource = resourceOf(node).value
  const own = isObject(resource) ? stringAt(resource, 'language') : undefined
  const languages = readNarrative(div).sections.flatMap(({ lang, xmlLang }) => xmlLang ?? lang ?? [])
  for (const demand of sections) {
    const problem = problemOf(languages, demand, own)
    if (problem !== undefined) run.findings.report(NARRATIVE_SECTIONS, node, { ...problem, profile })
  }
}

/** A missing section is only a warning if there are no sections at all, or if the language to look for is not known. */
function problemOf(languages: readonly string[], demand: string, own: string | undefined): Pick<Report, 'text' | 'severity'> | undefined {
  if (demand === '_no')
    return languages.length > 0
      ? { text: `The narrative has sections in ${quoted(languages.join(', '))}, but language sections are not allowed.` }
      : undefined
  if (demand === '_yes') return languages.length === 0 ? { text: 'The narrative must have language sections.' } : undefined
  const needed = demand === '_resource' ? own : demand
  if (needed !== undefined && languages.includes(needed)) return undefined
  const language = needed === undefined ? 'the language of the resource, which states none' : `the language ${quoted(needed)}`
  const text = `The narrative must have a section in ${language}.`
  return languages.length === 0 || needed === undefined ? { text, severity: 'warning' } : { text }
}

/** Sources of the parts of narratives. */
export const narrativeSourceRule: DemandRule = {
  name: 'narrative-source',
  finds: [NARRATIVE_SOURCE],
  appliesTo: ({ value }) => value.sourceControl !== undefined,
  checkBy: (rules) => (run, node) => {
    for (const rule of rules) checkSources(run, node, rule)
  },
}

/** Checks that each part of a narrative has a class that states its source, with the severity that the profile sets. */
function checkSources(run: Run, node: FhirNode, { value: { sourceControl }, profile }: ElementRule): void {
  const div = isObject(node.value) ? stringAt(node.value, 'div') : undefined
  if (div === undefined || sourceControl === undefined) return
  for (const part of readNarrative(div).unsourced)
    run.findings.report(NARRATIVE_SOURCE, node, {
      text: `${quoted(part)} in the narrative has no class that states its source: generated, boilerplate or original.`,
      severity: sourceControl,
      profile,
    })
}

/** Every id in a resource that a link can mean, with the number of its occurrences; collected once. */
export function anchorsOf(run: Run, resource: FhirNode): ReadonlyMap<string, number> {
  return finished(anchorsWork(run, resource))
}

/** Like `anchorsOf`, while other work runs in between. */
function* anchorsWork(run: Run, { value }: FhirNode): Work<ReadonlyMap<string, number>> {
  if (!isObject(value)) return new Map()
  const known = run.indexes.anchors.get(value)
  if (known !== undefined) return known
  const ids = new Map<string, number>()
  yield* collect(value, ids)
  run.indexes.anchors.set(value, ids)
  return ids
}

/** Number of objects and lists that are searched in one go. */
const PIECE = 200

/** Collects every id in a JSON value, including those of contained resources and of anchors in narratives. */
function* collect(value: object, ids: Map<string, number>): Work<void> {
  const open: object[] = [value]
  const narratives: string[] = []
  let seen = 0
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    if (++seen % PIECE === 0) yield
    for (const [key, member] of Object.entries(holder)) {
      if (typeof member === 'object' && member !== null) open.push(member)
      else if (key === 'id' && typeof member === 'string') add(ids, member, 1)
      else if (key === 'div' && typeof member === 'string') narratives.push(member)
    }
  }
  for (const xhtml of narratives) for (const [id, count] of (yield* narrativeWork(xhtml)).ids) add(ids, id, count)
}

function add(ids: Map<string, number>, id: string, count: number): void {
  ids.set(id, (ids.get(id) ?? 0) + count)
}

const TEXT_LINK: FindingDefinition = defineFinding(
  'text-link',
  'error',
  'structure',
  'Link elements of the narrative that exist with data that exists.',
)

/** The extension that links a narrative with data. */
export const TEXT_LINK_URL = 'http://hl7.org/fhir/StructureDefinition/textLink'

/** Links between narratives and data. */
export const textLinkRule: NodeRule = {
  on: ['Narrative'],
  finds: [TEXT_LINK],
  needs: 'extension',
  check: checkTextLinks,
}

/**
 * Checks that the places which the extensions `textLink` connect exist: elements of the narrative by their ids, and data in the resource or the Bundle.
 *
 * @see http://hl7.org/fhir/extensions/StructureDefinition-textLink.html
 */
function checkTextLinks(run: Run, node: FhirNode): void {
  if (!isObject(node.value)) return
  const links = objectsAt(node.value, 'extension').filter(({ url }) => url === TEXT_LINK_URL)
  if (links.length === 0) return
  const div = stringAt(node.value, 'div')
  if (div === undefined) return run.findings.report(TEXT_LINK, node, { text: 'There is a textLink, but no narrative that it could link.' })
  const ids = readNarrative(div).ids
  run.scheduler.later(function* () {
    const known = new Map<FhirNode['value'], LinkedPlaces>()
    for (const link of links) {
      yield
      yield* checkLink(run, node, { link, ids, known })
    }
  })
}

interface TextLink {
  readonly link: JsonObject
  /** Ids of the narrative. */
  readonly ids: ReadonlyMap<string, number>
  /** The places of the resources that were linked before, by their JSON. */
  readonly known: Map<FhirNode['value'], LinkedPlaces>
}

function* checkLink(run: Run, node: FhirNode, { link, ids, known }: TextLink): Work<void> {
  const say = (text: string, code?: Finding['code']): void =>
    run.findings.report(TEXT_LINK, node, { text, ...(code !== undefined && { code }) })
  for (const id of extensionValues(link, 'htmlid'))
    if (typeof id === 'string' && !ids.has(id)) say(`The narrative has no element with the id ${quoted(id)}.`)
  const [data] = extensionValues(link, 'data')
  if (typeof data !== 'string') return say('The textLink does not say which data it links.')
  const { count, type } = yield* dataOf(run, node, { data, known })
  if (count === 0) say(`The data ${quoted(data)} of the textLink was not found.`, 'not-found')
  if (count > 1) say(`The data ${quoted(data)} of the textLink is in ${count} places.`, 'invalid')
  const [selector] = extensionValues(link, 'selector')
  if (typeof selector !== 'string') return
  const problem = expressionProblem(selector, { model: run.model, focus: type === undefined ? [] : [type] })
  if (problem?.isError === true) say(`The selector ${quoted(selector)} of the textLink is not valid: ${problem.text}`, 'invalid')
}

interface LinkedData {
  readonly count: number
  /** The type of the data, if it is known. */
  readonly type?: TypeDefinition
}

/** The target of `#id`, of an address, or of an address with `#id`. */
function* dataOf(run: Run, node: FhirNode, { data, known }: Pick<TextLink, 'known'> & { readonly data: string }): Work<LinkedData> {
  const [address = '', id] = data.split('#')
  const resource = address === '' ? resourceOf(node) : resolveLocally(run, node, address)
  if (resource === undefined) return { count: 0 }
  if (id === undefined) return { count: 1, type: resource.type }
  const places = known.get(resource.value) ?? (yield* placesIn(run, resource))
  known.set(resource.value, places)
  const type = places.types.get(id)
  return { count: places.count(id), ...(type !== undefined && { type }) }
}

/** The places in a resource that data can be linked by. */
interface LinkedPlaces {
  /** The types of the elements with an id; of several with the same one, of the first. */
  readonly types: ReadonlyMap<string, TypeDefinition>
  /** Number of elements with an id, without those of the narrative. */
  readonly count: (id: string) => number
}

function* placesIn(run: Run, resource: FhirNode): Work<LinkedPlaces> {
  const types = new Map<string, TypeDefinition>()
  const open = [resource]
  let seen = 0
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (++seen % PIECE === 0) yield
    const id = (isObject(node.value) ? node.value : node.extra)?.['id']
    if (typeof id === 'string' && !types.has(id)) types.set(id, node.type)
    for (const name of [...node.type.elements.keys()].toReversed())
      for (const child of childrenOf(run, node, name).toReversed()) open.push(child)
  }
  const text = isObject(resource.value) ? resource.value['text'] : undefined
  const narrative = yield* narrativeWork(isObject(text) ? (stringAt(text, 'div') ?? '') : '')
  const anchors = yield* anchorsWork(run, resource)
  return { types, count: (id) => (anchors.get(id) ?? 0) - (narrative.ids.get(id) ?? 0) }
}
