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
  {
    probes: /^leads l1: qr\/regex\/(text|url)$/,
    why: `[regex](${R4}/extension-regex.html#summary) holds for answers of every primitive type; theirs looks at strings.`,
  },
  {
    probes: /^leads l1: score\/(ratio|continuous-variable)\//,
    why: `[group.code](${R4}/measurereport-definitions.html#MeasureReport.group.code) means the group of the measure with the same text; theirs needs a system and a code.`,
  },
  {
    probes: /^leads l1: score\/cohort\//,
    why: `[measureScore](${R4}/measurereport-definitions.html#MeasureReport.group.measureScore) depends on the scoring, and a cohort has none.`,
  },
  {
    probes: /^leads l1: (special\/normative|expectation\/prohibitedPatient|normativeVersion\/)/,
    why: `[context](${R4}/defining-extensions.html#context): the extension is for definitions and statements of capabilities, not for patients.`,
  },
  {
    probes: /^leads l1: special\/(definition|rdf-type)\//,
    why: 'Theirs brings definitions of its own for extensions that only its build uses, and that nobody publishes.',
    isLimit: true,
  },
  {
    probes: /^leads l1: empty\/(entry|parameter|parameterValue)\/empty$/,
    why: `[A resource in an element](${R4}/resource.html#resource) is there, whatever it states, as one alone is; theirs counts it as absent.`,
  },
  {
    probes: /^leads l1: empty\/complex\/idOnly$/,
    why: `[ele-1](${R4}/element.html#ele-1): an element has a value or children besides its id.`,
  },
  {
    probes: /^leads l1: control\//,
    why: `[A required binding](${R4}/terminologies.html#required) holds for languages and media types, too; theirs needs a server for them.`,
  },
  {
    probes: /^leads l1: relativeSystem\//,
    why: `[Coding.system](${R4}/datatypes.html#Coding) is an absolute URI, of whatever scheme. Theirs knows some schemes, and does not look at those of CodeableConcepts.`,
  },
  {
    probes: /^leads l1: shorthand\/(deceased\/)?(max0\/(string|date)|max0closed\/string|unit\/quantity)$/,
    why: `[max](${R4}/elementdefinition-definitions.html#ElementDefinition.max) 0 of one type of a choice forbids this type only, [closed](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.rules) slices all others, and what a profile says of the content of one type holds for it.`,
  },
  {
    probes: /^leads l1: shorthand\/deceased\/fixed\/dar$/,
    why: `[fixed[x]](${R4}/elementdefinition-definitions.html#ElementDefinition.fixed_x_): the value is exactly this, and not absent for a reason.`,
  },
  {
    probes: /^leads l1: forbidding\/(patternThis0|valueThis0|fixedThis0|two|noDisc0|resolve\/profile|coding\/(pattern|value)|derived)\//,
    why: `[max](${R4}/elementdefinition-definitions.html#ElementDefinition.max) 0 of a slice forbids all that is in the slice. Theirs holds nothing to be in it, if the discriminator is the item itself.`,
  },
  {
    probes: /^leads l1: forbidding\/(systemPattern0|coding\/code|reslice)\//,
    why: `[A pattern](${R4}/elementdefinition-definitions.html#ElementDefinition.pattern_x_) of a whole value says what its members are; theirs needs one of the member that the discriminator names.`,
  },
  {
    probes:
      /^bundles x1: ref\/[\w-]+\/\w+\/dev$|^resources z1: (Provenance\/behalfBad|Consent\/actor|MedicationRequest\/(rep|prior|just)|Observation\/derived|Patient\/(idAss|linkT|gp))$|^definitions w2: Library\/subj$/,
    why: `[A literal reference](${R4}/references.html#literal) names the type of its target, which must be allowed.`,
  },
  {
    probes: /^bundles x1: ref\/[\w-]+\/upUuid\//,
    why: '[RFC 4122](https://www.rfc-editor.org/rfc/rfc4122#section-3): letters of a UUID are written in lower case, and read in either.',
  },
  {
    probes: /^bundles x2: (link|linkTwo)\/document\/prev$/,
    why: `[Paging](${R4}/http.html#paging) is for searches and histories, and \`prev\` is the registered name of \`previous\`.`,
  },
  {
    probes: /^bundles x2: dup\//,
    why: `[References in Bundles](${R4}/bundle.html#references) may match several entries, which histories and answers have of the versions of a resource; applications choose.`,
  },
  {
    probes:
      /^(bundles x2: odd\/binary|resources z1: Patient\/(lang|photoLang)|definitions w1: ValueSet\/conDes|definitions w2: (CapabilityStatement\/fmtBad|Parameters\/money))$/,
    why: `[A required binding](${R4}/terminologies.html#required) holds for media types, languages and currencies, too; theirs needs a server for them.`,
  },
  {
    probes: /^bundles x3: slices\/\w+\/value\//,
    why: 'Theirs cannot tell slices by a pattern that has a text only.',
    isLimit: true,
  },
  {
    probes: /^bundles x3: slices\/openAtEnd\//,
    why: `[openAtEnd](${R4}/profiling.html#slicing): what is in no slice comes last.`,
  },
  {
    probes: /^answers y1: status\/min\//,
    why: `[in-progress](${R4}/questionnaireresponse-definitions.html#QuestionnaireResponse.status): a response that is not complete may lack answers.`,
  },
  {
    probes:
      /^(answers y1: q\/item\/tc\/|resources z1: (List\/code|Observation\/(interpOld|darOld)|Patient\/langX)$|definitions w1: CodeSystem\/desigUseBad$|publication v1: att\/)/,
    why: `[A uri](${R4}/datatypes.html#uri) need not resolve: what is not loaded is unknown, not wrong, other than an extension; and a language for private use is one.`,
  },
  {
    probes: /^resources z1: MedicationRequest\/rangeConv$/,
    why: `[rng-2](${R4}/datatypes.html#Range): two grams are more than 500 milligrams.`,
  },
  {
    probes: /^definitions w1: ValueSet\/(conBad|conCase|exclBad|f\/)/,
    why: `[include.concept](${R4}/valueset-definitions.html#ValueSet.compose.include.concept) lists codes of the system, and [filters](${R4}/valueset-definitions.html#ValueSet.compose.include.filter) have operators and values that fit the property; theirs needs a server for them.`,
  },
  {
    probes: /^definitions w1: ValueSet\/(loincF|sctF|sctEcl(Bad)?)$/,
    why: 'Theirs asks a server whether values of filters are right, and reports an error without one.',
    isLimit: true,
  },
  {
    probes: /^definitions w2: (OperationDefinition\/tpVs|CapabilityStatement\/opVs)$/,
    why: `[A canonical](${R4}/references.html#canonical) leads to a resource of the type that the element names.`,
  },
  {
    probes: /^definitions w2: Parameters\/(both|rp)$/,
    why: `[inv-1](${R4}/parameters.html#invs): a resource without members is there, too.`,
  },
  {
    probes: /^definitions w2: Parameters\/sig$/,
    why: `[base64Binary](${R4}/datatypes.html#base64Binary) can be decoded, in signatures, too.`,
  },
]
