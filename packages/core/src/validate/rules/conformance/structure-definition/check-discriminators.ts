import { quoted } from '../../../../errors/index.js'
import type { FhirNode, TypeDefinition, TypeModel } from '../../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../../walk/children.js'
import type { Run } from '../../../walk/run.js'
import type { ElementCheck } from './check-elements.js'
import { stepInto } from './element-place.js'

/** Checks that the discriminators of a slicing lead to elements that what is sliced has. */
export function checkDiscriminators({ run, node, path, place }: ElementCheck): void {
  for (const discriminator of discriminatorsOf(run, node)) {
    const steps = textOf(discriminator, 'path')
    if (place !== undefined && steps !== undefined && !leadsSomewhere(run.model, place.types, steps)) {
      run.sink.report('definition-slicing', discriminator, {
        text: `The discriminator ${quoted(steps)} leads to nothing that ${quoted(path)} has.`,
      })
    }
    if (textOf(discriminator, 'type') === 'pattern') {
      run.sink.report('definition-slicing', discriminator, {
        text: 'From R5 on the discriminator type pattern is written as value.',
        severity: 'information',
        code: 'business-rule',
      })
    }
  }
}

/** Reports the first extensions that are sliced by anything but their url, by which they always are. */
export function checkExtensionSlicing(definition: FhirNode, elements: readonly ElementCheck[]): void {
  for (const { run, node, path } of elements) {
    if (!/\.(?:modifierE|e)xtension$/.test(path)) continue
    const stray = discriminatorsOf(run, node).find((discriminator) => textOf(discriminator, 'path') !== 'url')
    if (stray === undefined) continue
    run.sink.report('definition-slicing', definition, {
      text: `${quoted(textOf(node, 'id') ?? path)} is sliced by ${quoted(textOf(stray, 'path') ?? '')}, but extensions are sliced by url.`,
      code: 'business-rule',
    })
    return
  }
}

function discriminatorsOf(run: Run, node: FhirNode): readonly FhirNode[] {
  return childrenOf(run, node, 'slicing').flatMap((slicing) => childrenOf(run, slicing, 'discriminator'))
}

/** What comes after a function, or in a resource of any type, is not followed. */
function leadsSomewhere(model: TypeModel, start: readonly TypeDefinition[], path: string): boolean {
  let types = start
  for (const step of path.split('.')) {
    if (step === '$this') continue
    if (step.includes('(') || types.some(({ name }) => name === 'Resource' || name === 'Any')) return true
    const next = stepInto(model, types, step)
    if (next === undefined) return false
    types = next.types
  }
  return true
}
