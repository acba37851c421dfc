import { SAME_FAULT, type Reason, type Row } from './decisions.js'

/** All reasons for differences about examples of packages. */
export const PACKAGE_REASONS: readonly Reason[] = [
  {
    name: SAME_FAULT,
    right: 'both',
    why: 'Both report the fault; one of them also says what follows from it, at the element around or inside, or at what refers to it.',
  },
  {
    name: 'profile of another type',
    right: 'both',
    why: 'Both refuse the claim; theirs continues and reports each element that the other type lacks.',
  },
  {
    name: 'entry of a Bundle',
    right: 'ours',
    why: '[issue.expression](https://hl7.org/fhir/R4/operationoutcome-definitions.html#OperationOutcome.issue.expression) is the element that is wrong. Theirs counts some entries of documents from 1 and names the first entry for every fullUrl.',
  },
  {
    name: 'type of a reference',
    right: 'ours',
    why: '[A literal reference names the type](https://hl7.org/fhir/R4/references.html#literal) of its target, which must be allowed. Theirs looks at it only with `assumeValidRestReferences`.',
  },
  {
    name: 'system that is a value set',
    right: 'ours',
    why: '[Coding.system](https://hl7.org/fhir/R4/datatypes.html#Coding) is the absolute URI of a code system, and no value set. Theirs says so only where it looks the code up.',
  },
  {
    name: 'amounts that cannot be compared',
    right: 'ours',
    why: '[Comparison](https://hl7.org/fhirpath/N1/#comparison) of amounts of different dimensions, or of one without a value, is empty, so rng-2 is not met. Theirs takes it as met.',
  },
  {
    name: 'codes of unknown systems',
    right: 'ours',
    why: '[A binding](https://hl7.org/fhir/R4/terminologies.html#binding) to a value set whose codes are all listed does not allow another code, and codes of countries are checked by their registry. Theirs says nothing without a terminology server.',
  },
  {
    name: 'no terminology server',
    right: 'ours',
    why: 'Theirs warns that it cannot check units or codes without a terminology server, or takes the code for one outside; they are checked here, or nothing is known of them.',
    isLimit: true,
  },
  {
    name: 'unknown is not an error',
    right: 'ours',
    why: '[A uri](https://hl7.org/fhir/R4/datatypes.html#uri) need not resolve: a code system, a version of one, a value set or an identifier system that is not loaded is a warning, or nothing. Theirs calls some an error.',
  },
  {
    name: 'packages of terminology and extensions',
    right: 'both',
    why: 'Theirs has those two packages loaded, which these tests do not have; with them both say the same.',
  },
  {
    name: 'profile of the code and a claimed one',
    right: 'both',
    why: 'Theirs also applies the [vital-signs profile of the LOINC code](https://hl7.org/fhir/R4/observation-vitalsigns.html) to what claims another profile. US Core publishes such Observations as conforming, and the suite expects them to be valid, so what is claimed decides here.',
  },
  {
    name: 'JSON of another type',
    right: 'both',
    why: 'Both refuse the member; theirs as a value of a wrong form, ours as a member that the type does not have.',
  },
]

/** Reported about elements that the profile on bodyweight forbids, or whose codes it does not have, in resources of other types. */
const OF_OTHER_TYPE =
  /^(Validation_VAL_Profile_NotAllowed|VALIDATION_VAL_PROFILE_MINIMUM_MAGIC|Terminology_TX_NoValid_16|UNABLE_TO_INFER_CODESYSTEM|Extension_PROF_Type|Reference_REF_NoDisplay)$/

/** The reasons of differences about examples of packages; the first row that matches decides. */
export const PACKAGE_ROWS: readonly Row[] = [
  {
    side: 'theirs',
    rule: OF_OTHER_TYPE,
    change: /^profile of a wrong type$/,
    place: /^(?!Observation\b)/,
    reason: 'profile of another type',
  },
  { side: 'ours', rule: /^bundle-/, reason: 'entry of a Bundle' },
  { side: 'theirs', rule: /^bundle_bundle_/i, reason: 'entry of a Bundle' },
  { side: 'ours', rule: /^reference$/, change: /^reference to a resource of another type$/, reason: 'type of a reference' },
  { side: 'ours', rule: /^reference$/, change: /^(?!reference )/, reason: SAME_FAULT },
  { side: 'ours', rule: /^too-few$/, change: /^reference to a resource of another type$/, reason: SAME_FAULT },
  { side: 'ours', rule: /^coding-system-form$/, reason: 'system that is a value set' },
  { side: 'ours', rule: /^invariant$/, reason: 'amounts that cannot be compared' },
  { side: 'ours', rule: /^(code-not-in-value-set|code-unknown|display-wrong)$/, reason: 'codes of unknown systems' },
  { side: 'ours', rule: /^code-system-unknown$/, reason: 'unknown is not an error' },
  { side: 'ours', rule: /^extension-unknown$/, change: /^base$/, reason: 'packages of terminology and extensions' },
  {
    side: 'theirs',
    rule: /^Validation_VAL_Profile_(Minimum(_SLICE)?|Maximum)$/,
    place: /^Observation(\.(component\[\d+\]\.)?(code|value))?$/,
    reason: 'profile of the code and a claimed one',
  },
  {
    side: 'theirs',
    rule: /^(Extension_PROF_Type|Validation_VAL_Profile_Not(Allowed|Slice))$/,
    change: /^other type of a choice$/,
    place: /^Observation\.(component\[\d+\]\.)?value/,
    reason: 'profile of the code and a claimed one',
  },
  {
    side: 'theirs',
    rule: /^VALIDATION_VAL_PROFILE_MINIMUM_MAGIC$/,
    place: /^Observation\.code$/,
    reason: 'profile of the code and a claimed one',
  },
  {
    side: 'theirs',
    rule: /^_DT_Fixed_Wrong$/,
    change: /^(code outside|other unit|unit that there is not)$/,
    place: /\.value\.code$/,
    reason: 'profile of the code and a claimed one',
  },
  {
    side: 'theirs',
    rule: /^(Error_validating_code_running_without_terminology_services|UNKNOWN_CODESYSTEM|Terminology_TX_Error_CodeableConcept|Terminology_TX_Confirm_5|Unexpected internal condition.*|json: A definition for CodeSystem.*)$/,
    reason: 'no terminology server',
  },
  {
    side: 'theirs',
    rule: /^(UNKNOWN_CODESYSTEM_VERSION|Terminology_TX_ValueSet_NotFound|Type_Specific_Checks_DT_URL_Resolve)$/,
    reason: 'unknown is not an error',
  },
  { side: 'ours', rule: /^unknown-property$/, change: /^other type of a choice$/, reason: 'JSON of another type' },
  { side: 'theirs', rule: /^json: This property must be a simple value/, reason: 'JSON of another type' },
]
