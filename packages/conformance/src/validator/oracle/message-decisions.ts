import type { ProbeDecision } from './probe-decisions.js'

const R4 = 'https://hl7.org/fhir/R4'
const FHIRPATH = 'https://hl7.org/fhirpath/N1'

/** Decisions on probes of messages of HL7's validator that no other probe shows. */
export const DECIDED_OF_MESSAGES: readonly ProbeDecision[] = [
  {
    probes: /^rules r7: xver(Context|Code)?\//,
    why: 'Theirs needs the definitions of the other releases to know extensions for their elements.',
    isLimit: true,
  },
  {
    probes: /^rules r7: (canonicalType\/(library|instantiates)|containedCanonical\/(?!obs7|response)\w+\/\w+)$/,
    why: `[A canonical](${R4}/references.html#canonical) leads to a definition of a type that the element names, also to a contained one; theirs looks at that of a response only.`,
  },
  {
    probes: /^rules r7: score(Unit)?\//,
    why: `[group.code](${R4}/measurereport-definitions.html#MeasureReport.group.code) has the meaning of the group of the measure, which the same text has. A cohort has no score.`,
  },
  {
    probes: /^rules r7: \w+\/(required|extensible|preferred|example)\/systemVs$/,
    why: `[Coding.system](${R4}/datatypes.html#Coding) is that of a code system; theirs says so only where a code is required.`,
  },
  {
    probes: /^rules r7: options\//,
    why: `[answerOption](${R4}/questionnaire-definitions.html#Questionnaire.item.answerOption) and answerValueSet list the permitted answers, of whatever type; theirs does not look at those of texts, dates, times, amounts and references.`,
  },
  {
    probes: /^rules r7: bindingVersion2\/\w+\/(out|unknown|two|upper|noCode)$/,
    why: `[concept](${R4}/valueset-definitions.html#ValueSet.compose.include.concept) lists the codes of a value set, also if the version of the code system is not known; a code that names no version is one of a known version.`,
  },
  {
    probes: /^rules r7: (bindingFragment\/required\/noCode|bindingUnknown\/required\/versionOther)$/,
    why: `[A required binding](${R4}/terminologies.html#required) needs a code of the value set: no code is none, nor is one of a system that it does not include.`,
  },
  {
    probes: /^rules r7: maxBinding\/\w+\/(out|otherSystem)$/,
    why: `[maxValueSet](${R4}/elementdefinition-definitions.html#ElementDefinition.binding) is required in addition to the binding itself; theirs looks at it only for codes that the binding does not allow.`,
  },
  {
    probes: /^rules r7: maxBinding\/extensible\/noSystem$/,
    why: `[Coding.system](${R4}/datatypes.html#Coding): a code without system may be the one that the value set lists, so it is not certainly outside.`,
  },
  {
    probes: /^rules r7: control\/ud800$/,
    why: '[JSON](https://www.rfc-editor.org/rfc/rfc8259#section-8.2): an unpaired surrogate is not a character.',
  },
  {
    probes: /^rules r7: (date|birth|instant)Max\/bad$/,
    why: `[maxValue[x]](${R4}/elementdefinition-definitions.html#ElementDefinition.maxValue_x_) holds for dates, too; theirs only reports a limit without a value.`,
  },
  {
    probes: /^rules r7: (sid\/icd\w+|bindingParameter\/ok|obligationProfile\/\w+\/tools)$/,
    why: `[A uri](${R4}/datatypes.html#uri) need not resolve; theirs calls one of HL7 that is not loaded an error.`,
  },
  {
    probes: /^rules r7: narrative\/(JS|imgJs)$/,
    why: '[A scheme](https://www.rfc-editor.org/rfc/rfc3986#section-3.1) is the same in upper and lower case, in images as in links.',
  },
  {
    probes: /^rules r7: (narrativeRoot\/|inNarrative\/(instruction|cdata)$)/,
    why: `[A narrative](${R4}/narrative.html#xhtml) is one div that is well-formed and has nothing but elements and text, without prefixes and a document type.`,
  },
  {
    probes: /^rules r7: timingEvents\//,
    why: `[pattern[x]](${R4}/elementdefinition-definitions.html#ElementDefinition.pattern_x_): the items of a pattern are among those of the element, which may have more.`,
  },
  {
    probes: /^rules r7: timingFixed\/noCode$/,
    why: `[fixed[x]](${R4}/elementdefinition-definitions.html#ElementDefinition.fixed_x_) holds for every member; theirs passes over the code of a Timing.`,
  },
  {
    probes: /^rules r7: security\/none$/,
    why: `[security](${R4}/resource-definitions.html#Meta.security): labels with nothing but different texts are not the same.`,
  },
  {
    probes: /^rules r7: json\/(abstract|Resource|dataType|backbone)$/,
    why: `[resourceType](${R4}/json.html#resources) names a resource; abstract types and data types are none.`,
  },
  {
    probes: /^rules r7: (inferred\/mime\/|definition\/concept\/unknown)/,
    why: 'Theirs looks these codes up on a terminology server only.',
    isLimit: true,
  },
  { probes: /^rules r7: guide\//, why: 'Theirs looks at versions of packages that it can load.', isLimit: true },
  {
    probes: /^rules r7: globalProfile\/known$/,
    why: `[global](${R4}/implementationguide-definitions.html#ImplementationGuide.global): resources of the type conform to the profile; theirs reads guides of packages only.`,
  },
  {
    probes: /^rules r7: inputProfile\/ok$/,
    why: `[inputProfile](${R4}/operationdefinition-definitions.html#OperationDefinition.inputProfile) constrains the parameters further; it need not repeat their types.`,
  },
  {
    probes: /^rules r7: parameter\/(measure|returnP)$/,
    why: `[inv-1](${R4}/parameters.html#invs): a resource that has a type and nothing else is there; theirs counts it as absent.`,
  },
  {
    probes: /^rules r7: units\/unknownVs\/out$/,
    why: `[Quantity.code](${R4}/datatypes.html#Quantity): an example of R4 has a unit that its code system lacks, so that is a warning.`,
  },
  {
    probes: /^rules r7: definition\/baseValue\/pattern(Other|Same)$/,
    why: `[pattern[x]](${R4}/elementdefinition-definitions.html#ElementDefinition.pattern_x_) of a base holds for what is derived, which may repeat it and must not contradict it.`,
  },
  {
    probes: /^rules r7: definition\/noDerivationBase$/,
    why: `[derivation](${R4}/structuredefinition-definitions.html#StructureDefinition.derivation) is missing in the base, where it is reported; theirs can derive nothing from that.`,
  },
  {
    probes: /^rules r7: order\/afterSame$/,
    why: `[The id](${R4}/elementdefinition.html#id) of an element names its slice: one without is for all items, also after the slices.`,
  },
  {
    probes: /^rules r7: profilesOfTypes\/abstract\/other$/,
    why: `[type.profile](${R4}/elementdefinition-definitions.html#ElementDefinition.type.profile): every resource of a type that is derived from DomainResource conforms to it.`,
  },
  {
    probes: /^rules r7: containedCanonical\/obs7\//,
    why: `[intersect](${FHIRPATH}/#intersectother-collection-collection) compares by equality, so that Codings with other codes, systems or displays are not the same.`,
  },
  {
    probes: /^rules r7: range\/(noCode|noCodeHigh|unitOnly|unitsDiffer)$/,
    why: 'Theirs compares amounts by their codes, and fails where one is missing; here the text of the unit stands for it.',
    isLimit: true,
  },
  {
    probes: /^rules r7: range\/bare$/,
    why: `[Comparison](${FHIRPATH}/#comparison) of an amount without a unit with one of milligrams is empty, so that rng-2 is not met.`,
  },
]
