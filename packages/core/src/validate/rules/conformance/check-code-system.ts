import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { childrenOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import type { Work } from '../../../work/index.js'
import { checkConcepts } from './code-system-concepts.js'
import { checkProperties } from './code-system-properties.js'

/** Checks a CodeSystem in itself: that its count is right, supplements are marked, and that it says what users of its codes need. */
export function* checkCodeSystem(run: Run, node: FhirNode): Work<void> {
  if (!isObject(node.value)) return
  checkContent(run, node, node.value)
  const concepts: JsonObject[] = []
  yield* collectConcepts(node.value, concepts)
  checkCount(run, node, { system: node.value, found: concepts.length })
  checkUnique(run, node, concepts)
  checkProperties(run, node)
  yield* checkConcepts(run, node)
  if (node.value['supplements'] === undefined) checkMeaning(run, node, node.value)
  else checkSupplement(run, node, node.value)
  if (isOfHl7(node.value)) checkDefinitions(run, node)
}

/** HL7 holds its own code systems to a stricter rule. */
function isOfHl7(system: JsonObject): boolean {
  return /(?:hl7|fhir)\.org/.test(stringAt(system, 'url') ?? '')
}

function checkContent(run: Run, node: FhirNode, system: JsonObject): void {
  const content = stringAt(system, 'content')
  const isSupplement = system['supplements'] !== undefined
  const [concept] = content === 'not-present' ? childrenOf(run, node, 'concept') : []
  if (concept !== undefined)
    run.sink.report('code-system-content', concept, { text: 'The concepts are said not to be present, but here is one.', code: 'invalid' })
  if (content === undefined || isSupplement === (content === 'supplement')) return
  const text = isSupplement
    ? `A CodeSystem that supplements another must have the content 'supplement', not ${quoted(content)}.`
    : 'A supplement must say what it supplements.'
  run.sink.report('code-system-content', node, { text, at: 'content' })
}

/** Those in other concepts too. */
function* collectConcepts(holder: JsonObject, into: JsonObject[]): Work<void> {
  for (const concept of objectsAt(holder, 'concept')) {
    into.push(concept)
    yield
    yield* collectConcepts(concept, into)
  }
}

/** csd-1 */
function checkUnique(run: Run, node: FhirNode, concepts: readonly JsonObject[]): void {
  const codes = concepts.flatMap((concept) => stringAt(concept, 'code') ?? [])
  if (new Set(codes).size < codes.length)
    run.sink.report('invariant', node, { text: 'csd-1: Within a code system definition, all the codes SHALL be unique' })
}

function checkCount(run: Run, node: FhirNode, { system, found }: { system: JsonObject; found: number }): void {
  const stated = system['count']
  const content = stringAt(system, 'content')
  if (content === 'complete' && found === 0) {
    run.sink.report('code-system-empty', node, { text: 'The code system is said to be complete, but has no concepts.' })
    return
  }
  if (typeof stated !== 'number') return
  if (content === 'complete' && stated !== found) {
    run.sink.report('code-system-count', node, {
      text: `The count is ${stated}, but the complete code system has ${found} concepts.`,
      at: 'count',
    })
  }
  if ((content === 'fragment' || content === 'example') && found >= stated) {
    run.sink.report('code-system-count', node, {
      text: `The count is ${stated}, but there are ${found} concepts, though not all are here.`,
      at: 'count',
      severity: 'warning',
    })
  }
}

/** Whoever uses the codes must know whether case matters, and what it means that one is below another. */
function checkMeaning(run: Run, node: FhirNode, system: JsonObject): void {
  const say = (name: string, why: string): void =>
    run.sink.report('code-system-incomplete', node, {
      text: `The code system should say in ${name} ${why}.`,
      severity: isOfHl7(system) ? 'warning' : 'information',
    })
  if (system['caseSensitive'] === undefined) say('caseSensitive', 'whether upper and lower case differ')
  const isNested = objectsAt(system, 'concept').some((concept) => objectsAt(concept, 'concept').length > 0)
  if (isNested && system['hierarchyMeaning'] === undefined) say('hierarchyMeaning', 'what it means that concepts are in others')
}

/** These are told by the code system that is supplemented. */
function checkSupplement(run: Run, node: FhirNode, system: JsonObject): void {
  for (const name of ['caseSensitive', 'hierarchyMeaning']) {
    if (system[name] !== undefined)
      run.sink.report('code-system-content', node, { text: `A supplement has no ${name} of its own.`, at: name })
  }
}

function checkDefinitions(run: Run, node: FhirNode): void {
  const bare = childrenOf(run, node, 'concept').find(({ value }) => isObject(value) && value['definition'] === undefined)
  if (bare !== undefined)
    run.sink.report('code-system-incomplete', bare, { text: 'Every concept of a code system of HL7 should have a definition.' })
}
