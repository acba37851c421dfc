import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, stringAt } from '../../../json/index.js'
import { defineFinding, type FindingDefinition, type Finding } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { BundleEntry } from '../../run/indexes.js'
import type { BundleCheck } from './entry-links.js'

/** A missing or wrong part of a searchset: self link, search modes, ids, resources of other types. */
export const BUNDLE_SEARCH: FindingDefinition = defineFinding(
  'bundle-search',
  'error',
  'invalid',
  'Add what a search result needs: a self link, search modes and ids.',
)

/** Checks the result of a search: it states the search, entries state why they are included, and matches are of the searched types. */
export function checkSearchSet(check: BundleCheck): void {
  const { run, bundle, index } = check
  if (checkPresence(check) === 0) return
  const self = selfLink(check)
  const types = self === undefined ? [] : typesOf(self, (name) => run.model.type(name)?.kind === 'resource')
  const say = (severity: Finding['severity'], text: string): void => run.findings.report(BUNDLE_SEARCH, bundle, { text, severity })
  if (self === undefined) say('warning', 'A searchset should have a self link, which states the search.')
  else if (types.length === 0) say('information', `The self link ${quoted(self)} does not identify the types that were searched.`)
  if (index.entries.some((entry) => modeOf(entry) !== undefined)) {
    for (const entry of index.entries) checkEntry(check, entry, types)
  } else checkWithoutModes(check, types)
}

/** Checks that each entry has a resource. Returns the number of entries. */
function checkPresence({ run, bundle }: BundleCheck): number {
  const entries = childrenOf(run, bundle, 'entry')
  for (const entry of entries) {
    if (childrenOf(run, entry, 'resource').length === 0)
      run.findings.report(BUNDLE_SEARCH, entry, { text: 'Every entry of a searchset must have a resource.' })
  }
  return entries.length
}

function selfLink({ run, bundle }: BundleCheck): string | undefined {
  const link = childrenOf(run, bundle, 'link').find((one) => textOf(one, 'relation') === 'self')
  return link && textOf(link, 'url')
}

/** The searched types: the last part of the path, before the `_search` of a POST, or else `_type`. */
function typesOf(url: string, isType: (name: string) => boolean): readonly string[] {
  const [address = '', query = ''] = url.split('?', 2)
  const path = address.replace(/\/_search$/, '')
  const last = path.slice(path.lastIndexOf('/') + 1)
  return isType(last) ? [last] : (new URLSearchParams(query).get('_type')?.split(',') ?? [])
}

function modeOf({ entry }: BundleEntry): string | undefined {
  return isObject(entry.value) ? stringAt(objectAt(entry.value, 'search'), 'mode') : undefined
}

function checkEntry({ run }: BundleCheck, entry: BundleEntry, types: readonly string[]): void {
  const mode = modeOf(entry)
  const type = entry.resource.type.name
  const say = (text: string): void => run.findings.report(BUNDLE_SEARCH, entry.resource, { text })
  if (mode === undefined) {
    run.findings.report(BUNDLE_SEARCH, entry.entry, {
      text: 'The entry should have a search mode, because others have one.',
      severity: 'warning',
    })
    return
  }
  if (mode === 'outcome') {
    if (type !== 'OperationOutcome') say(`An entry with the mode outcome must be an OperationOutcome, not ${quoted(type)}.`)
    return
  }
  if (textOf(entry.resource, 'id') === undefined) say('A resource in a searchset must have an id.')
  if (mode === 'match' && types.length > 0 && !types.includes(type))
    say(`A match must be of a searched type, ${types.join(' or ')}, not ${quoted(type)}.`)
}

/** Checks entries without modes. They need none if all are of the one searched type. */
function checkWithoutModes({ run, bundle, index }: BundleCheck, types: readonly string[]): void {
  const warn = (node: FhirNode, text: string): void => run.findings.report(BUNDLE_SEARCH, node, { text, severity: 'warning' })
  for (const { entry, resource } of index.entries) {
    const type = resource.type.name
    if (types.length > 0 && !types.includes(type))
      warn(entry, `The entry should have a search mode, because ${quoted(type)} is none of the searched types.`)
    else if (type !== 'OperationOutcome' && textOf(resource, 'id') === undefined)
      warn(resource, 'A resource in a searchset should have an id.')
  }
  const found = new Set(index.entries.map(({ resource }) => resource.type.name))
  const isPlain = found.size <= 1 && [...found].every((type) => types.includes(type))
  if (!isPlain) warn(bundle, 'The entries of a searchset should have search modes.')
}
