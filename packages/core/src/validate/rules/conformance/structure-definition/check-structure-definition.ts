import { quoted } from '../../../../errors/index.js'
import type { FhirNode } from '../../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../../walk/children.js'
import type { Run } from '../../../walk/run.js'
import { checkElements } from './check-elements.js'

/** Checks that a StructureDefinition can be used: its base is known, its differential fits the type, its context is not too wide. */
export function checkStructureDefinition(run: Run, node: FhirNode): void {
  checkBase(run, node)
  checkContexts(run, node)
  const [differential] = childrenOf(run, node, 'differential')
  if (differential === undefined) return
  const isConstraint = textOf(node, 'derivation') === 'constraint'
  checkElements({ run, definition: node, differential, isConstraint }, childrenOf(run, differential, 'element'))
}

function checkBase(run: Run, node: FhirNode): void {
  const base = textOf(node, 'baseDefinition')
  if (base === undefined || run.facts.definition('StructureDefinition', base) !== undefined) return
  run.sink.report('definition-base', node, {
    text: `The base ${quoted(base)} is not known here, so the differential is not checked against it.`,
  })
}

/** An extension for every element is rarely meant. */
function checkContexts(run: Run, node: FhirNode): void {
  if (textOf(node, 'type') !== 'Extension') return
  for (const context of childrenOf(run, node, 'context')) {
    if (textOf(context, 'type') !== 'element' || textOf(context, 'expression') !== 'Element') continue
    run.sink.report('definition-context', context, {
      text: 'The context Element allows the extension everywhere; name the elements that it is for.',
    })
  }
}
