import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import type { Run } from '../../walk/run.js'
import { base64Length, base64Problem } from '../primitive/base64.js'

/** Checks that the stated size of an attachment is that of its data. */
export function checkAttachment(run: Run, node: FhirNode): void {
  if (!isObject(node.value)) return
  const data = stringAt(node.value, 'data')
  const { size } = node.value
  if (data === undefined || typeof size !== 'number' || base64Problem(data)?.severity !== undefined) return
  const length = base64Length(data)
  if (length !== size) run.sink.report('attachment', node, { text: `The size is stated as ${size}, but the data has ${length} bytes.` })
}
