import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import { resourceOf, type Run } from '../../walk/run.js'
import type { Work } from '../../../work/index.js'
import { containerOf } from '../reference/resolve-locally.js'
import { anchorsWork } from './element-ids.js'
import { narrativeWork, readNarrative, type Narrative, type NarrativeLanguage } from './narrative-problems.js'

const TXT_1 = 'txt-1: The narrative may only have the basic elements and attributes of HTML, links, images, and styles that load nothing.'

/** Checks the XHTML of a narrative: markup, links, and that its language is the resource's. */
export function checkNarrative(run: Run, node: FhirNode): void {
  const { value } = node
  if (typeof value !== 'string') return
  if (value.length <= SHORT) return checkRead(run, node, readNarrative(value))
  run.later(function* () {
    checkRead(run, node, yield* narrativeWork(value))
  })
}

/** Characters that are read in less time than others can wait. */
const SHORT = 100_000

function checkRead(run: Run, node: FhirNode, narrative: Narrative): void {
  if (narrative.hasForeignMarkup) run.sink.report('invariant', node, { text: TXT_1 })
  for (const text of narrative.problems) run.sink.report('narrative', node, { text })
  if (narrative.hasSpaceAttribute)
    run.sink.report('narrative', node, { text: "The attribute 'xml:space' has no effect.", severity: 'information' })
  if (!narrative.hasContent)
    run.sink.report('narrative', node, { text: 'A narrative should have some text or an image.', severity: 'warning' })
  const outer = narrative.fragments.filter((fragment) => !narrative.ids.has(fragment))
  if (outer.length > 0) run.later(() => checkFragments(run, node, outer))
  if (narrative.sources.length > 0) run.later(() => checkImages(run, node, narrative.sources))
  checkLanguage(run, node, narrative)
}

/** A link within the document leads to an element with that id, or to a narrative's anchor. */
function* checkFragments(run: Run, node: FhirNode, fragments: readonly string[]): Work<void> {
  const ids = yield* anchorsWork(run, run.root.type.name === 'Bundle' ? run.root : containerOf(node))
  for (const fragment of fragments) {
    yield
    if (fragment !== '' && !ids.has(fragment))
      run.sink.report('narrative', node, { text: `The narrative links to ${quoted(`#${fragment}`)}, which is not there.` })
  }
}

/** An image is in the resource, not in another of the document. A warning, because R4's own examples have images that are not there. */
function* checkImages(run: Run, node: FhirNode, sources: readonly string[]): Work<void> {
  const ids = yield* anchorsWork(run, containerOf(node))
  for (const source of sources) {
    yield
    if (ids.has(source)) continue
    run.sink.report('narrative', node, {
      text: `The narrative has an image ${quoted(`#${source}`)}, which is not there.`,
      severity: 'warning',
    })
  }
}

/** A narrative is in the language of its resource, and nothing in it is outside of its sections by language, if it has some. */
function checkLanguage(run: Run, node: FhirNode, narrative: Narrative): void {
  const { sections, hasUnsectioned } = narrative
  if (sections.length > 0 && hasUnsectioned)
    run.sink.report('narrative-language', node, { text: 'The narrative has content outside of its sections by language.' })
  const resource = resourceOf(node)
  const own = isObject(resource.value) ? stringAt(resource.value, 'language') : undefined
  const { lang, xmlLang } = languageOf(narrative)
  if (own === undefined || (lang === own && xmlLang === own)) return
  const stated = [lang, xmlLang].map((one) => (one === undefined ? 'none' : quoted(one))).join(' and ')
  run.sink.report('narrative-language', resource, {
    text: `The resource is in ${quoted(own)}, but lang and xml:lang of its narrative are ${stated}.`,
  })
}

/** That of the outermost element; where there are only sections by language, that of the first. */
function languageOf({ language, sections: [first], hasUnsectioned }: Narrative): NarrativeLanguage {
  const isSilent = language.lang === undefined && language.xmlLang === undefined
  return isSilent && !hasUnsectioned && first !== undefined ? first : language
}
