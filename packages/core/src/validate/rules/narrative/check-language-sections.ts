import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import type { ElementRule } from '../../profile/element-rule.js'
import { resourceOf, type Run } from '../../walk/run.js'
import { readNarrative } from './narrative-problems.js'

/**
 * Checks that a narrative has sections in the languages that a profile demands: none (`_no`), any (`_yes`), the resource's (`_resource`),
 * or one that is named.
 */
export function checkLanguageSections(
  run: Run,
  node: FhirNode,
  { sections, rule }: { sections: readonly string[]; rule: ElementRule },
): void {
  const div = isObject(node.value) ? stringAt(node.value, 'div') : undefined
  if (div === undefined) return
  const resource = resourceOf(node).value
  const own = isObject(resource) ? stringAt(resource, 'language') : undefined
  const languages = readNarrative(div).sections.flatMap(({ lang, xmlLang }) => xmlLang ?? lang ?? [])
  for (const demand of sections) {
    const text = problemOf(languages, demand, own)
    if (text !== undefined) run.sink.report('narrative-sections', node, { text, profile: rule.profile })
  }
}

function problemOf(languages: readonly string[], demand: string, own: string | undefined): string | undefined {
  if (demand === '_no')
    return languages.length > 0
      ? `The narrative has sections in ${quoted(languages.join(', '))}, but may have none in languages.`
      : undefined
  if (demand === '_yes') return languages.length === 0 ? 'The narrative needs sections in languages.' : undefined
  const needed = demand === '_resource' ? own : demand
  return needed === undefined || languages.includes(needed) ? undefined : `The narrative needs a section in the language ${quoted(needed)}.`
}
