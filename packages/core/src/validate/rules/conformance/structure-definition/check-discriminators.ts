import { quoted } from '../../../../errors/index.js'
import type { TypeDefinition, TypeModel } from '../../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../../walk/children.js'
import type { ElementCheck } from './check-elements.js'
import { stepInto } from './element-place.js'

/** Checks that the discriminators of a slicing lead to elements that what is sliced has. */
export function checkDiscriminators({ run, node, path, place }: ElementCheck): void {
  if (place === undefined) return
  for (const slicing of childrenOf(run, node, 'slicing')) {
    for (const discriminator of childrenOf(run, slicing, 'discriminator')) {
      const steps = textOf(discriminator, 'path')
      if (steps === undefined || leadsSomewhere(run.model, place.types, steps)) continue
      run.sink.report('definition-slicing', discriminator, {
        text: `The discriminator ${quoted(steps)} leads to nothing that ${quoted(path)} has.`,
      })
    }
  }
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
