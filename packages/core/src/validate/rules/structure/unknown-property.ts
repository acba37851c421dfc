import { pathOf, type FhirNode } from '../../../fhirpath/index.js'
import { didYouMean, nearest, otherCase } from '../../../nearest/index.js'
import type { Help } from '../../finding-sink.js'
import { renaming } from '../../fix/patch.js'
import type { Run } from '../../walk/run.js'

const MAX_NAME = 100

/** Reports a property that the type of the node does not have; one that differs from a known one only in case can be renamed. */
export function reportUnknownProperty(run: Run, node: FhirNode, name: string): void {
  const at = JSON.stringify(name.slice(0, MAX_NAME).toWellFormed()).slice(1, -1)
  const text = `Invalid additional property "${pathOf(node)}.${at}"`
  run.sink.report('unknown-property', node, { text, at, help: () => meantName(node, name) })
}

function meantName(node: FhirNode, name: string): Help {
  const near = nearest(name, node.type.members.keys())
  const right = otherCase(name, near)
  return { hint: didYouMean(near), fix: right === undefined ? undefined : renaming(node, name, right) }
}
