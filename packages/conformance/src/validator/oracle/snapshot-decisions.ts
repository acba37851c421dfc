import type { ProbeDecision } from './probe-decisions.js'

const R4 = 'https://hl7.org/fhir/R4'

/** Decisions on probes of profiles that cannot be applied, or only in an unusual way, and of resources that are validated against them. */
export const DECIDED_OF_SNAPSHOTS: readonly ProbeDecision[] = [
  {
    probes:
      /snap5: (noDerivation|typeOnFirst|path\/rootTwice|twice(Id)?|summary(True)?|target\/(any|domain)|type\/(url|onFixed|nameBackbone|contactElement)|slice\/(singleCc|noRules)|choice\/(ordered|two|bothMin|shortTwo(Types)?)|ext\/patient)\/inst$/,
    why: 'Theirs makes no snapshot of such a profile, and refuses every resource for that. Here the profile is wrong, and what it demands is applied.',
    isLimit: true,
  },
  {
    probes: /snap5: choice\/(wrongType|noType)\/inst$/,
    why: 'Theirs does not apply the slice of a choice whose type is not that of its name.',
    isLimit: true,
  },
  {
    probes: /snap5: disc\/\w+\/(\$this|extension(\('[^']*'\))?|\$other|empty|use|given|period\.start)\/inst$/,
    why: 'Theirs does not distinguish slices by what is inside of them, nor by extensions that are not known, and ends with an exception for a discriminator that there is not.',
    isLimit: true,
  },
  {
    probes: /snap5: derived\/(closed\/toEnd|openAtEnd\/toClosed)\/sd$/,
    why: `[rules](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.rules) of a slicing may become narrower, from the end of a list to closed, and not wider.`,
  },
  {
    probes: /snap5: type\/url\/sd$/,
    why: `[type.code](${R4}/elementdefinition-definitions.html#ElementDefinition.type.code) is a URL, relative to those of FHIR's own types, or whole.`,
  },
  {
    probes: /^measures (m2: critRef|r2: strat\/two)$/,
    why: 'Theirs ends with an exception for criteria with a reference instead of an expression, and for a stratifier with two codes.',
    isLimit: true,
  },
]
