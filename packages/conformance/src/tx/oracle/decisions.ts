import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The reason why answers differ, and which one is right. */
export interface Reason {
  readonly name: string
  readonly right: 'ours' | 'theirs' | 'both'
  /** Explanation with a link to the paragraph that decides. */
  readonly why: string
  /** True if a program reached a limit of its own, which no specification mentions. */
  readonly isLimit?: true
}

/** The decision on a question whose answer differs from that of the oracle. */
export interface Decision {
  readonly reason: string
  readonly difference: string
}

const R4 = 'https://hl7.org/fhir/R4'

/** All reasons. */
export const REASONS: readonly Reason[] = [
  {
    name: 'limits of theirs',
    right: 'ours',
    isLimit: true,
    why: 'Without a server, theirs knows few operators and code systems whose content is complete or a fragment, or ends with an exception.',
  },
  {
    name: 'definitions that cannot be used',
    right: 'ours',
    why: `[An expansion that cannot be made is an error](${R4}/valueset-operation-expand.html#expand): a filter whose value is not of the property's type, an unknown version that is excluded, imports in a circle. Theirs passes over these where nothing else depends on them, and says of a code that it is outside.`,
  },
  {
    name: 'incomplete code systems',
    right: 'ours',
    why: `[content](${R4}/codesystem-definitions.html#CodeSystem.content): what is not present is not known, and examples and fragments have the codes that they list. Theirs says that a code is valid when it could not look.`,
  },
  {
    name: 'display in another language',
    right: 'ours',
    why: `[displayLanguage](${R4}/valueset-operation-expand.html#expand) chooses among displays. Where there is none in the language, ours gives the display that there is; theirs gives none.`,
  },
  {
    name: 'properties under other names',
    right: 'both',
    why: `[A standard property](${R4}/codesystem.html#status) is known by its URI. Where a code system has it under another code, ours takes its name for it as well, and theirs only that code.`,
  },
  {
    name: 'versions of codes',
    right: 'both',
    why: `[contains.version](${R4}/valueset-definitions.html#ValueSet.expansion.contains.version) is needed where codes are of several versions. Ours looks at imported value sets, too; theirs only at the outermost, and says the versions of all systems then.`,
  },
  {
    name: 'parents',
    right: 'ours',
    why: `[parent](${R4}/codesystem-concept-properties.html#concept-properties-parent) is a parent as one that a concept is nested in, and a filter asks for both. Theirs subsumes by nesting only, and filters by the property only.`,
  },
  {
    name: 'meaning of a hierarchy',
    right: 'ours',
    why: `[hierarchyMeaning](${R4}/codesystem-definitions.html#CodeSystem.hierarchyMeaning): parts and groups do not subsume. Theirs does not look at it.`,
  },
  {
    name: 'nesting',
    right: 'both',
    why: `[contains.contains](${R4}/valueset-definitions.html#ValueSet.expansion.contains.contains) is for display, without meaning. Ours nests whole systems and branches, by all parents, and pages are flat; theirs nests also what filters leave of a system, and pages.`,
  },
  {
    name: 'version of the source',
    right: 'ours',
    why: `[group.sourceVersion](${R4}/conceptmap-definitions.html#ConceptMap.group.sourceVersion) states the version that a group is for; one without it is for all. Theirs leaves those out.`,
  },
  {
    name: 'inactive concepts',
    right: 'ours',
    why: `[activeOnly](${R4}/valueset-operation-expand.html#expand) can remove codes that a value set includes, and \`inactive\` true counts whatever the \`status\`. Theirs keeps them.`,
  },
  {
    name: 'inferred systems',
    right: 'ours',
    why: `[inferSystem](${R4}/valueset-operation-validate-code.html#validate-code) takes the one system of the value set that has the code. Theirs does not look into imports and filters, and takes versions of a system for several.`,
  },
  {
    name: 'imports and excludes',
    right: 'ours',
    why: `[compose](${R4}/valueset.html#compositions): conditions of an include all hold, and what any exclude has is left out. Theirs lets codes of an empty import in, and compares excluded codes with their versions.`,
  },
  {
    name: 'absent properties',
    right: 'ours',
    why: `[exists](${R4}/valueset-filter-operator.html#filter-operator-exists) false holds for a concept without the property.`,
  },
  {
    name: 'default of a property',
    right: 'ours',
    why: `[inactive](${R4}/codesystem-concept-properties.html#concept-properties-inactive) has the default false, so a filter for false takes concepts that do not state it, and one for true those that are inactive by their status. Theirs compares what is stated.`,
  },
  {
    name: 'codes that cannot be compared',
    right: 'ours',
    why: `[$subsumes](${R4}/codesystem-operation-subsumes.html#subsumes) of a code that the system does not have is an error. Theirs compares the texts first.`,
  },
  {
    name: 'validation against expansion',
    right: 'ours',
    why: `[A code is in a value set](${R4}/valueset-operation-validate-code.html#validate-code) when its expansion has it. The expansions are the same; theirs contradicts its own.`,
  },
  {
    name: 'supplements of imported systems',
    right: 'ours',
    why: `[useSupplement](https://hl7.org/fhir/R5/valueset-operation-expand.html#expand) names a supplement to use in the expansion, in what imports give as well. Theirs refuses one of a code system that only an imported value set includes.`,
  },
  {
    name: 'concepts without display',
    right: 'ours',
    why: `[display](${R4}/codesystem-definitions.html#CodeSystem.concept.display) is optional: a text for a concept without one contradicts nothing. Theirs calls it wrong.`,
  },
  {
    name: 'case of codes',
    right: 'ours',
    why: `[caseSensitive](${R4}/codesystem-definitions.html#CodeSystem.caseSensitive) is the rule of the system, also for what value sets list of it. Theirs compares lists as they are written.`,
  },
]

const FILE = fileURLToPath(new URL('../../../oracle/terminology-differences.tsv', import.meta.url))

/** The decisions by seed, number and operation of the question. */
export function decisions(): ReadonlyMap<string, Decision> {
  const lines = readFileSync(FILE, 'utf8').trimEnd().split('\n')
  return new Map(
    lines.map((line): [string, Decision] => {
      const [place = '', reason = '', difference = ''] = line.split('\t')
      return [place, { reason, difference }]
    }),
  )
}
