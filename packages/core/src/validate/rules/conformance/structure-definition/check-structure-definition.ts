import { quoted } from '../../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../../fhirpath/index.js'
import type { JsonObject } from '../../../../json/index.js'
import { childrenOf, textOf } from '../../../walk/children.js'
import type { Run } from '../../../walk/run.js'
import type { Work } from '../../../../work/index.js'
import { checkContexts } from './check-contexts.js'
import { checkElements } from './check-elements.js'
import { checkObligations } from './check-obligations.js'

/** Checks that a StructureDefinition can be used: its base is known, its differential fits the type, its context is not too wide. */
export function* checkStructureDefinition(run: Run, node: FhirNode): Work<void> {
  checkBase(run, node)
  checkContexts(run, node)
  checkExtensionUrl(run, node)
  const [differential] = childrenOf(run, node, 'differential')
  if (differential === undefined) return
  const isConstraint = textOf(node, 'derivation') === 'constraint'
  yield* checkElements({ run, definition: node, differential, isConstraint }, childrenOf(run, differential, 'element'))
  checkObligations(run, node, differential)
}

function checkBase(run: Run, node: FhirNode): void {
  const base = textOf(node, 'baseDefinition')
  const found = base === undefined ? PENDING : run.facts.definition('StructureDefinition', base)
  if (found === undefined) {
    run.sink.report('definition-base', node, {
      text: `The base ${quoted(base ?? '')} is not known here, so the differential is not checked against it.`,
    })
  } else if (found !== PENDING) checkDerivation(run, node, found)
}

function checkDerivation(run: Run, node: FhirNode, base: JsonObject): void {
  const isSameType = base['type'] === textOf(node, 'type')
  const say = (text: string): void => run.sink.report('definition-base', node, { text, severity: 'error' })
  if (textOf(node, 'derivation') !== 'constraint') {
    if (isSameType) say(`A type that is derived from ${quoted(String(base['type']))} needs a name of its own.`)
    return
  }
  if (base['kind'] !== textOf(node, 'kind')) say(`The base is a ${quoted(String(base['kind']))}, so the profile cannot be of another kind.`)
  if (!isSameType) {
    run.sink.report('definition-snapshot', node, {
      text: `The differential cannot be applied: the base ${quoted(textOf(node, 'baseDefinition') ?? '')} is of type ${quoted(String(base['type']))}.`,
    })
  }
}

const EXTENSION = 'http://hl7.org/fhir/StructureDefinition/Extension'

/** The url of an extension is that of its definition; a profile on an extension has it from there. */
function checkExtensionUrl(run: Run, node: FhirNode): void {
  if (textOf(node, 'baseDefinition') !== EXTENSION) return
  const url = textOf(node, 'url') ?? ''
  const elements = ['differential', 'snapshot']
    .flatMap((name) => childrenOf(run, node, name))
    .flatMap((part) => childrenOf(run, part, 'element'))
  if (elements.some((element) => textOf(element, 'path') === 'Extension.url' && textOf(element, 'fixedUri') === url)) return
  run.sink.report('definition-extension-url', node, { text: `The definition must fix the url of the extension to ${quoted(url)}.` })
}
