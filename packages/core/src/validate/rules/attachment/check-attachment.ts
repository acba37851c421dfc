import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import type { Run } from '../../walk/run.js'
import { base64Length, base64Problem } from '../primitive/base64.js'

/** Checks that an attachment has content, or tells of some, and that the stated size is that of its data. */
export function checkAttachment(run: Run, node: FhirNode): void {
  if (!isObject(node.value)) return
  const { value } = node
  const { size } = value
  const data = stringAt(value, 'data')
  if (!CONTENT.some((name) => Object.hasOwn(value, name)))
    run.sink.report('attachment', node, {
      text: 'The attachment has neither data nor url, nor tells what they would be.',
      severity: 'warning',
    })
  if (data === undefined || typeof size !== 'number' || base64Problem(data)?.severity !== undefined) return
  const length = base64Length(data)
  if (length !== size) run.sink.report('attachment', node, { text: `The size is stated as ${size}, but the data has ${length} bytes.` })
}

const CONTENT = ['data', 'url', 'contentType', 'language']
