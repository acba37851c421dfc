import type { SearchOptions } from '../../../search/index.js'

/** Code of the search parameter by which resources of a type refer to the patient that they are about; `undefined` when there is none. */
export function patientParameter({ parameters }: SearchOptions, type: string): string | undefined {
  return ['patient', 'subject'].find((code) => {
    const parameter = parameters.find(type, code)
    return parameter?.type === 'reference' && (parameter.targets.length === 0 || parameter.targets.includes('Patient'))
  })
}
