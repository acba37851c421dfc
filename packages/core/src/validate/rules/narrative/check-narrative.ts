import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import { resourceOf, type Run } from '../../walk/run.js'
import { containerOf } from '../reference/resolve-locally.js'
import { anchorsOf } from './element-ids.js'
import { readNarrative } from './narrative-problems.js'

const TXT_1 = 'txt-1: The narrative may only have the basic elements and attributes of HTML, links, images, and styles that load nothing.'

/** Checks the XHTML of a narrative: markup, links, and that its language is the resource's. */
export function checkNarrative(run: Run, node: FhirNode): void {
  if (typeof node.value !== 'string') return
  const narrative = readNarrative(node.value)
  if (narrative.hasForeignMarkup) run.sink.report('invariant', node, { text: TXT_1 })
  for (const text of narrative.problems) run.sink.report('narrative', node, { text })
  if (narrative.hasSpaceAttribute)
    run.sink.report('narrative', node, { text: "The attribute 'xml:space' has no effect.", severity: 'information' })
  if (!narrative.hasContent)
    run.sink.report('narrative', node, { text: 'A narrative should have some text or an image.', severity: 'warning' })
  checkFragments(
    run,
    node,
    narrative.fragments.filter((fragment) => !narrative.ids.has(fragment)),
  )
  checkLanguage(run, node, narrative.language === undefined ? narrative.sectionLanguages : [narrative.language])
}

/** A link within the document leads to an element with that id, or to a narrative's anchor. */
function checkFragments(run: Run, node: FhirNode, fragments: readonly string[]): void {
  if (fragments.length === 0) return
  const ids = anchorsOf(run, run.root.type.name === 'Bundle' ? run.root : containerOf(node))
  for (const fragment of fragments) {
    if (fragment !== '' && !ids.has(fragment))
      run.sink.report('narrative', node, { text: `The narrative links to ${quoted(`#${fragment}`)}, which is not there.` })
  }
}

/** A narrative is in the language of its outermost element, or in those of its sections. */
function checkLanguage(run: Run, node: FhirNode, languages: readonly string[]): void {
  const resource = resourceOf(node)
  const own = isObject(resource.value) ? stringAt(resource.value, 'language') : undefined
  const [language] = languages
  if (own === undefined || language === undefined || languages.includes(own)) return
  run.sink.report('narrative-language', resource, { text: `The resource is in ${quoted(own)}, but its narrative in ${quoted(language)}.` })
}
