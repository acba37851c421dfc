/** A prompt that asks a language model to use the tools for a task. */
interface PromptText {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[]
  /** @param given Arguments by name; optional ones may be absent. */
  readonly text: (given: Readonly<Record<string, string | undefined>>) => string
}

/** Prompts for coding tasks. */
export const PROMPTS: readonly PromptText[] = [
  {
    name: 'code_term',
    title: 'Code a term',
    description: 'Find the code for a term of clinical language in a value set.',
    arguments: [
      { name: 'term', description: 'The term as it was written', required: true },
      { name: 'valueSet', description: 'Canonical of the value set', required: true },
    ],
    text: ({ term = '', valueSet = '' }) =>
      `Find the code for "${term}" in the value set ${valueSet}.
Call expand with a filter of one or two words of the term; if nothing is found, try synonyms and shorter words. Look at the likely codes with lookup, and check your choice with validate_code.
Answer system, code and display, how sure you are, and the next best code. If no code fits, say so: do not make one up.`,
  },
  {
    name: 'map_code',
    title: 'Map a code',
    description: 'Find what a code of one code system is in another.',
    arguments: [
      { name: 'system', description: 'Code system of the code', required: true },
      { name: 'code', description: 'The code', required: true },
      { name: 'targetSystem', description: 'Code system to map to', required: true },
      { name: 'url', description: 'Canonical of a ConceptMap', required: false },
    ],
    text: ({ system = '', code = '', targetSystem = '', url }) =>
      `Map the code ${code} of ${system} to ${targetSystem}.
${url === undefined ? 'Search for a ConceptMap between the two systems first (search, type ConceptMap).' : `Use the ConceptMap ${url}.`} Call translate and report every match with its equivalence. If there is none, look the code up, search the target system with expand for the same meaning, and mark your proposal as not confirmed by a map.`,
  },
  {
    name: 'fix_resource',
    title: 'Fix a resource',
    description: 'Correct a FHIR resource until it is valid.',
    arguments: [
      { name: 'resource', description: 'The resource as JSON', required: true },
      { name: 'profile', description: 'Canonical of a profile to conform to', required: false },
    ],
    text: ({ resource = '', profile }) =>
      `Correct this FHIR R4 resource${profile === undefined ? '' : ` so that it conforms to ${profile}`}:
${resource}
Call validate, fix each error at its place, and validate again until there are none. Change nothing else, and invent no clinical facts: where one is missing, use a data-absent-reason extension or ask. Answer the resource and a list of what you changed.`,
  },
  {
    name: 'build_value_set',
    title: 'Build a value set',
    description: 'Propose a ValueSet for a purpose.',
    arguments: [
      { name: 'purpose', description: 'What the codes are for', required: true },
      { name: 'system', description: 'Code system to choose from', required: true },
    ],
    text: ({ purpose = '', system = '' }) =>
      `Propose a FHIR ValueSet of codes of ${system} for: ${purpose}.
Get json_schema for ValueSet. Find the codes with expand and lookup, check each with validate_code, prefer filters over long lists where a hierarchy says the same (subsumes). Validate the ValueSet, and answer it with one sentence for each code that a reader could doubt.`,
  },
]
