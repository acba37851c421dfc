import type { SearchOptions } from '../../../search/index.js'

/** Code of the search parameter by which resources of a type refer to the patient, or other subject, that they are about; `undefined` when there is none. */
export function subjectParameter({ parameters }: SearchOptions, type: string, subjectType: string): string | undefined {
  return ['patient', 'subject'].find((code) => {
    const parameter = parameters.find(type, code)
    return parameter?.type === 'reference' && (parameter.targets.length === 0 || parameter.targets.includes(subjectType))
  })
}
