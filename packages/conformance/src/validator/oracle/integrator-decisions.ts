import type { ProbeDecision } from './probe-decisions.js'

const R4 = 'https://hl7.org/fhir/R4'

/** Decisions on probes of what integrators do: profiles of guides, summaries of patients, forms, definitions with faults of authors, and JSON of wrong forms. */
export const DECIDED_OF_INTEGRATORS: readonly ProbeDecision[] = [
  {
    probes: /^integrators: (contentReference\/max0\/(compRange|link)\/|authorUse\/(unknownPath|deepIntoRef|head\/(noDiff|emptyDiff))$)/,
    why: `[A differential](${R4}/profiling.html#snapshot) has elements of its base only; a profile that has others, or none, cannot be used. Theirs leaves them out.`,
  },
  {
    probes: /^integrators: choice\/typeSlicesClosed\//,
    why: `[closed](${R4}/valueset-resource-slicing-rules.html#resource-slicing-rules-closed) slices by type allow no other type. Theirs notes it.`,
  },
  {
    probes:
      /^integrators: (discriminators\/useRank\/half(And)?|authorUse\/(typeOther|targetWiden|dupPath|extNotExt|head\/derivNone)|author\/reslice)$/,
    why: 'Theirs makes no snapshot, or one that lacks what is in another order than in the base. Here what the profile demands is applied.',
    isLimit: true,
  },
  {
    probes: /^integrators: (authorUse\/(sliceMax|dollar)|form\/behavior\/undefined\/neitherNo)$/,
    why: 'Theirs cannot tell slices by a pattern that has a text only, and takes every item as enabled if nothing says how its conditions are combined.',
    isLimit: true,
  },
  {
    probes: /^integrators: authorUse\/reslice$/,
    why: `[discriminator](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.discriminator): a slice of a slice states what its discriminator asks for, too.`,
  },
  {
    probes: /^integrators: form\/behavior\/undefined\/neither$/,
    why: `[enableBehavior](${R4}/questionnaire-definitions.html#Questionnaire.item.enableBehavior): if none of the conditions is met, the item is not enabled, whether all or any are needed.`,
  },
  {
    probes:
      /^integrators: narrativeMarkup\/(entHalf|entSurrogate|noQuotes|dupAttr|prefixed|pi|twoDivs|xmlDecl|attrLt|closeSpace|styleAttr|imgDataBad)$/,
    why: `[A narrative](${R4}/narrative.html#xhtml) is one div that is well-formed XML without prefixes and instructions, and loads nothing but images; white space may stand before the end of a tag.`,
  },
  {
    probes: /^integrators: (narrativeMarkup\/(imgWidth|imgStyle|imgLongdesc|imgOnly)|sectionNarrative\/img)$/,
    why: `[Images](${R4}/narrative.html#id) that do not resolve are a warning, as examples of R4 have them.`,
  },
  {
    probes: /^integrators: narrativeMarkup\/tdHeight$/,
    why: '[HTML 4](https://www.w3.org/TR/html401/struct/tables.html#h-11.2.6) has the height of cells, in a chapter that narratives may use.',
  },
  {
    probes: /^integrators: time\/time\//,
    why: `[time](${R4}/datatypes.html#time) may have fractions of seconds.`,
  },
  {
    probes: /^integrators: (capability\/(fmtBad|patchFmtBad)|codeSystem\/desig)$/,
    why: 'Theirs looks media types and languages up on a terminology server only.',
    isLimit: true,
  },
  {
    probes: /^integrators: codeSystem\/desigUse$/,
    why: `[A uri](${R4}/datatypes.html#uri) need not resolve; theirs calls one of HL7 that is not loaded an error.`,
  },
  {
    probes: /^integrators: valueSet\/(con|excl)Bad$/,
    why: `[concept.code](${R4}/valueset-definitions.html#ValueSet.compose.include.concept.code) is one of the code system, which is complete. Theirs looks it up on a terminology server only.`,
  },
  {
    probes: /^integrators: wrongForm\/\w+\/idOnly$/,
    why: `[ele-1](${R4}/element.html#Element): an element has a value or children besides its id.`,
  },
  {
    probes: /^integrators: wrongForm\/given\/arrEmpty$/,
    why: `[JSON](${R4}/json.html#primitive): arrays are never empty. Theirs does not look at those of primitive values.`,
  },
  {
    probes: /^integrators: author\/(bindOnBackbone|minValueType|maxLengthBad)$/,
    why: `[eld-11](${R4}/elementdefinition.html#invs) and its like hold for types that the base states, too.`,
  },
  {
    probes: /^integrators: author\/(discBad|invBadExpr|invUnk)$/,
    why: `[expression](${R4}/elementdefinition-definitions.html#ElementDefinition.constraint.expression) and discriminators of a differential can be evaluated on the element, as those of a snapshot; theirs looks at snapshots only.`,
  },
]
