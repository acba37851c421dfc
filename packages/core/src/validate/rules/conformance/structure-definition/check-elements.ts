import { quoted } from '../../../../errors/index.js'
import type { FhirNode } from '../../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../../walk/children.js'
import type { Run } from '../../../walk/run.js'
import type { Work } from '../../../../work/index.js'
import { checkBinding } from './check-binding.js'
import { checkCharacteristics } from './check-characteristics.js'
import { checkConstraintKeys } from './check-constraint-keys.js'
import { checkDiscriminators, checkExtensionSlicing } from './check-discriminators.js'
import { checkExpressions } from './check-expressions.js'
import { checkRestrictions } from './check-restrictions.js'
import { checkTypeProfiles } from './check-type-profiles.js'
import { placeOf, type ElementPlace } from './element-place.js'
import { checkPlace } from './check-place.js'
import { misplacedElements } from './element-order.js'
import { checkSliceSupport } from './slice-support.js'

/** What the rules of a differential work with. */
export interface DifferentialCheck {
  readonly run: Run
  readonly definition: FhirNode
  readonly differential: FhirNode
  /** True for a profile, which cannot add elements. */
  readonly isConstraint: boolean
}

/** An ElementDefinition of a differential. */
export interface ElementCheck {
  readonly run: Run
  readonly node: FhirNode
  readonly path: string
  /** Absent when the types do not know the element. */
  readonly place: ElementPlace | undefined
}

/** Checks the elements of a differential, each by itself and in their order. */
export function* checkElements(check: DifferentialCheck, nodes: readonly FhirNode[]): Work<void> {
  const { run, isConstraint } = check
  const elements = nodes.map((node) => {
    const path = textOf(node, 'path') ?? ''
    return { run, node, path, place: placeOf(run.model, path) }
  })
  checkRoot(check, elements)
  checkExtensionSlicing(check.definition, elements)
  for (const element of elements) {
    yield
    checkPlace(check, element)
    checkCharacteristics(element)
    checkBinding(element)
    checkExpressions(element)
    checkDiscriminators(element)
    checkTypeProfiles(element)
  }
  if (isConstraint) {
    reportMisplaced(check, elements)
    yield
    checkRestrictions(check, elements)
    yield
    checkConstraintKeys(check, elements)
    yield
  }
  checkSliceSupport(check, elements)
}

function checkRoot({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const root = elements.find(({ node, path }) => !path.includes('.') && childrenOf(run, node, 'slicing').length > 0)
  if (root === undefined) return
  run.sink.report('definition-slicing', root.node, { text: 'The root of a profile cannot be sliced.' })
  run.sink.report('definition-snapshot', definition, { text: 'The differential cannot be applied, because it slices the root.' })
}

function reportMisplaced({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const misplaced = misplacedElements(run, elements)
  if (misplaced.length === 0) return
  for (const { node, path } of misplaced) {
    run.sink.report('definition-path', node, {
      text: `There is no element ${quoted(path)} at this place of the base: check the path and the order.`,
    })
  }
  run.sink.report('definition-path', definition, {
    text: `Of the differential, ${misplaced.length} elements do not fit the base: ${misplaced
      .slice(0, 5)
      .map(({ path }) => path)
      .join(', ')}.`,
  })
}
