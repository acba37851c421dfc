import { compartmentMembers, type OperationContext } from '../context/index.js'
import type { SearchOptions } from '../search/index.js'

/** How resources belong to subjects of one type. */
export interface SubjectLinks {
  /** Type of the subjects. */
  readonly subjectType: string
  /** Codes of the reference parameters that link resources of a type to a subject, any of which suffices; none for a type that belongs to no subject. */
  readonly paramsOf: (type: string) => readonly string[]
}

/**
 * How resources belong to subjects: to a patient by `patient` or `subject`; to a type with a compartment in FHIR by its CompartmentDefinition; to any other
 * type by a parameter with the name of the type (`organization`), or `subject`, or else by every reference parameter that has the type as a target.
 *
 * @see https://hl7.org/fhir/R4/compartmentdefinition.html
 */
export async function subjectLinks(ctx: OperationContext, subjectType: string): Promise<SubjectLinks> {
  const { search } = ctx
  const known = new Map<string, readonly string[]>()
  // A patient's compartment also has what the patient does for others, as an author or performer; a subject's data is only what is about the patient.
  const members = subjectType === 'Patient' ? undefined : await compartmentMembers(ctx, subjectType)
  const linksOf = (type: string): readonly string[] => {
    if (search === undefined) return []
    const inCompartment = members?.get(type)?.filter((code) => mayReferTo(search, { type, code, subjectType })) ?? []
    return members === undefined || inCompartment.length === 0 ? parametersFor(search, type, subjectType) : inCompartment
  }
  return {
    subjectType,
    paramsOf: (type) => {
      const before = known.get(type)
      if (before !== undefined) return before
      const found = linksOf(type)
      known.set(type, found)
      return found
    },
  }
}

interface Link {
  readonly type: string
  readonly code: string
  readonly subjectType: string
}

function mayReferTo({ parameters }: SearchOptions, { type, code, subjectType }: Link): boolean {
  const parameter = parameters.find(type, code)
  return parameter?.type === 'reference' && (parameter.targets.length === 0 || parameter.targets.includes(subjectType))
}

function parametersFor(search: SearchOptions, type: string, subjectType: string): readonly string[] {
  const named = [subjectType.toLowerCase(), 'subject'].find((code) => mayReferTo(search, { type, code, subjectType }))
  if (named !== undefined) return [named]
  const all = search.parameters.of(type).filter((parameter) => parameter.type === 'reference' && parameter.targets.includes(subjectType))
  return all.map(({ code }) => code)
}
