import { quoted } from '../../../../errors/index.js'
import { isObject } from '../../../../json/index.js'
import { textOf } from '../../../walk/children.js'
import type { DifferentialCheck, ElementCheck } from './check-elements.js'

/** Checks that the slices of an element that must be supported must be supported too. */
export function checkSliceSupport({ run, differential }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const supported = new Set(
    elements.filter((element) => isSupported(element) && textOf(element.node, 'sliceName') === undefined).map(({ path }) => path),
  )
  for (const element of elements) {
    const slice = textOf(element.node, 'sliceName')
    if (slice === undefined || !supported.has(element.path) || isSupported(element)) continue
    run.sink.report('definition-must-support', differential, {
      text: `The slice ${quoted(slice)} of ${quoted(element.path)} need not be supported, but the element that it slices must.`,
    })
  }
}

function isSupported({ node: { value } }: ElementCheck): boolean {
  return isObject(value) && value['mustSupport'] === true
}
