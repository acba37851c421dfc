import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import { conceptTexts, isWanted, languageList, mainText, type CodeSystemProvider, type ConceptText } from '../../../terminology/index.js'
import type { StatedText } from '../../run/definitions.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { Run } from '../../run/run.js'
import { boundLists, codesOf } from './bound-codes.js'

const DISPLAY_WRONG: FindingDefinition = defineFinding(
  'display-wrong',
  'error',
  'invalid',
  'Use a display of the code, or leave the display out; check first that the code is the intended one.',
)
const DISPLAY_LANGUAGE: FindingDefinition = defineFinding(
  'display-language',
  'information',
  'invalid',
  'No action needed; the code system has no display in the language of the resource, and this one is right in its own.',
)
const DISPLAY_OUTDATED: FindingDefinition = defineFinding(
  'display-outdated',
  'warning',
  'invalid',
  'Use a display of the code that is still in use.',
)

/** The kinds of findings about displays. */
export const DISPLAY_FINDINGS: readonly FindingDefinition[] = [DISPLAY_WRONG, DISPLAY_LANGUAGE, DISPLAY_OUTDATED]

interface GivenDisplay {
  readonly display: string
  readonly concept: number
  readonly provider: CodeSystemProvider
  readonly rules: readonly ElementRule[]
}

/** Checks that a display is one of the concept, in the language of the resource if the code system has that. A value set may define others. */
export function checkDisplay(run: Run, node: FhirNode, { display, concept, provider, rules }: GivenDisplay): void {
  const texts = conceptTexts(provider, concept)
  const language = languageAround(node)
  const fitting = language === undefined ? texts : textsIn(texts, language)
  const name = quoted(provider.code(concept))
  const found = fitting.find(({ value }) => isSame(value, display))
  if (found !== undefined) {
    noteOutdated(run, node, { found, name })
    return
  }
  const stated = displaysInLists(run, node, rules)
  const listed = (language === undefined ? stated : textsIn(stated, language)).map(({ value }) => value)
  if (listed.some((text) => isSame(text, display))) return
  const valid = [...listed, ...fitting.map(({ value }) => value)]
  const isMain = fitting.length === 0 && texts.some(({ main, value }) => main && isSame(value, display))
  if (valid.length > 0 && !isMain) reportWrong(run, node, { display, name, valid })
  else checkDefault(run, node, { display, name, texts, language: language ?? '' })
}

/** True for a current display of the concept in a resource that states no language: nothing is reported about it. */
export function isUsualDisplay(
  run: Run,
  { display, concept, provider }: Pick<GivenDisplay, 'concept' | 'provider'> & { display: string | undefined },
): boolean {
  if (display === undefined) return true
  if (languageAround(run.quickCheck.within) !== undefined) return false
  if (mainText(provider, concept)?.value === display) return true
  const found = conceptTexts(provider, concept).find(({ value }) => isSame(value, display))
  return found !== undefined && found.outdated === undefined
}

interface NamedDisplay {
  readonly display: string
  /** The code, quoted. */
  readonly name: string
}

function reportWrong(run: Run, node: FhirNode, { display, name, valid }: NamedDisplay & { valid: readonly string[] }): void {
  const texts = [...new Set(valid)].slice(0, 5).map(quoted)
  run.findings.report(DISPLAY_WRONG, node, {
    text: `Wrong display name ${quoted(display)} for ${name}; valid displays: ${texts.join(', ')}.`,
    at: 'display',
    severity: run.policy.wrongDisplays,
  })
}

interface DisplayWithoutFit extends NamedDisplay {
  readonly texts: readonly ConceptText[]
  readonly language: string
}

/** If the code system has no display in the language, its main display is accepted. */
function checkDefault(run: Run, node: FhirNode, { display, name, texts, language }: DisplayWithoutFit): void {
  const main = texts.find((text) => text.main)?.value
  if (texts.length === 0) {
    const text = `The code system has no display for ${name}, so ${quoted(display)} is not checked.`
    run.findings.report(DISPLAY_WRONG, node, { text, at: 'display', severity: 'warning' })
  } else if (main !== undefined && isSame(main, display)) {
    const text = `There is no display for ${name} in the language ${quoted(language)}; ${quoted(display)} is the display of the code system.`
    run.findings.report(DISPLAY_LANGUAGE, node, { text, at: 'display' })
  } else {
    const own = main === undefined ? '' : `, and the display of the code system is ${quoted(main)}`
    const text = `Wrong display name ${quoted(display)} for ${name}: there is none in the language ${quoted(language)}${own}.`
    run.findings.report(DISPLAY_WRONG, node, { text, at: 'display', severity: run.policy.wrongDisplays })
  }
}

/** The texts in a language. A text that does not state its language may be in any. */
function textsIn<T extends StatedText>(texts: readonly T[], language: string): readonly T[] {
  const asked = languageList(language)
  if (asked === undefined || asked.tags.length === 0) return texts
  return texts.filter((text) => text.language === undefined || isWanted(asked, text.language))
}

/** The language of the nearest resource around a node that states one: a Bundle's language applies to its resources. */
function languageAround(node: FhirNode): string | undefined {
  for (let current: FhirNode | undefined = node; current !== undefined; current = current.parent) {
    const { type, value } = current
    const language = type.kind === 'resource' && isObject(value) ? stringAt(value, 'language') : undefined
    if (language !== undefined) return language
  }
  return undefined
}

/** Reports a display that its code system marks as outdated. */
function noteOutdated(run: Run, node: FhirNode, { found, name }: { found: ConceptText; name: string }): void {
  if (found.outdated === undefined) return
  run.findings.report(DISPLAY_OUTDATED, node, {
    text: `${quoted(found.value)} is no longer a correct display for ${name}: ${found.outdated}.`,
    at: 'display',
  })
}

/** The displays in the value sets to which a Coding, or the concept around it, is bound. */
function displaysInLists(run: Run, node: FhirNode, rules: readonly ElementRule[]): readonly StatedText[] {
  const concept = node.parent?.value
  const lists = [...boundLists(run, rules), ...((isObject(concept) && run.indexes.boundLists.get(concept)?.()) || [])]
  return lists.flatMap((list) => codesOf(node).flatMap((code) => list.displays(code)))
}

function isSame(text: string, display: string): boolean {
  return text === display || text.toLowerCase() === display.toLowerCase()
}
