import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import type { Run } from '../../walk/run.js'

/** Urls that need no definition: those for examples, and those of the tools that publish FHIR. */
const FREE = /^https?:\/\/(?:(?:[a-z0-9.-]+\.)?(?:example\.org|acme\.com|nema\.org)(?:\/|$)|hl7\.org\/fhir\/tools\/)/

/** The specification's own examples use extensions of this guide, whose definitions they do not bring. */
const US_CORE = 'http://hl7.org/fhir/us/core/'

/** Elements of other releases as extensions: they follow from those releases, and are not published one by one. */
const CROSS_VERSION = /^http:\/\/hl7\.org\/fhir\/\d\.\d\/StructureDefinition\/extension-/

/** Checks that the url of an extension is one, and that it has a definition. What is inside a complex extension is named by that one's. */
export function checkExtension(run: Run, node: FhirNode): void {
  const url = isObject(node.value) ? stringAt(node.value, 'url') : undefined
  if (url === undefined) run.sink.report('extension-url-missing', node, { text: 'An extension without url cannot be told from others.' })
  if (url === undefined || url === '' || isNamedByOuter(run, node, url)) return
  checkUrl(run, node, url)
}

function checkUrl(run: Run, node: FhirNode, url: string): void {
  if (!url.includes(':')) {
    run.sink.report('extension-url', node, { text: `The url of an extension must be absolute, not ${quoted(url)}.` })
  } else if (url.includes('|')) {
    run.sink.report('extension-url', node, { text: `The url of an extension has no version: ${quoted(url)}.` })
  } else if (run.facts.profile(url) === undefined && !FREE.test(url) && !CROSS_VERSION.test(url)) {
    reportUnknown(run, node, url)
  }
}

function reportUnknown(run: Run, node: FhirNode, url: string): void {
  run.sink.report('extension-unknown', node, {
    text: `The extension ${quoted(url)} is not known here.`,
    ...(url.startsWith(US_CORE) && { severity: 'warning' }),
  })
}

function isNamedByOuter(run: Run, node: FhirNode, url: string): boolean {
  const outer = node.parent
  if (outer?.type.name !== 'Extension' || !isObject(outer.value)) return false
  const profile = run.facts.profile(stringAt(outer.value, 'url') ?? '')
  if (profile === undefined) return !url.includes(':')
  return profile === PENDING || profile.root.children.get('extension')?.slices.length !== 0
}
