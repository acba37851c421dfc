import type { Issue } from './issue.js'

/** The reason why the validators differ, and which answer is right. */
export interface Reason {
  readonly name: string
  /** `ours` or `theirs`: which answer is right; `both`: both answers have the same meaning. */
  readonly right: 'ours' | 'theirs' | 'both'
  /** Explanation; if ours is right, with a link to the paragraph that decides. */
  readonly why: string
  /** True if a program reached a limit of its own, which no specification mentions. */
  readonly isLimit?: true
}

/** The reason for differences that follow from a fault that both have found. */
export const SAME_FAULT = 'same fault'

/** All reasons. */
export const REASONS: readonly Reason[] = [
  {
    name: SAME_FAULT,
    right: 'both',
    why: 'Both report the fault; one of them also says what follows from it, at the element around or inside.',
  },
  { name: 'url of an extension', right: 'both', why: 'Theirs repeats at `url`, as a warning, what both report at the extension.' },
  {
    name: 'profile of another type',
    right: 'both',
    why: 'Both refuse the claim; theirs continues and reports each element that the other type lacks.',
  },
  {
    name: 'attribute twice',
    right: 'ours',
    why: '[XML 1.0](https://www.w3.org/TR/xml/#uniqattspec): an attribute name stands once in a tag. Theirs reads the narrative with a parser that keeps the last.',
  },
  {
    name: 'id of an element',
    right: 'ours',
    why: '[Element.id](https://hl7.org/fhir/R4/element.html#id) has no white space. Theirs checks ids of resources only.',
  },
  {
    name: 'only an id',
    right: 'ours',
    why: '[ele-1](https://hl7.org/fhir/R4/element.html#ele-1): an element has a value or children besides its id. Theirs does not apply it to an object that has an id.',
  },
  {
    name: 'type of a reference',
    right: 'ours',
    why: '[A literal reference names the type](https://hl7.org/fhir/R4/references.html#literal) of its target, which must be allowed. Theirs looks at it only with `assumeValidRestReferences`.',
  },
  {
    name: 'empty list',
    right: 'ours',
    why: '[JSON](https://hl7.org/fhir/R4/json.html#primitive): arrays are never empty. Theirs does not look at those of primitive values.',
  },
  {
    name: 'null in a list',
    right: 'ours',
    why: '[JSON](https://hl7.org/fhir/R4/json.html#primitive): null stands only where the other array has something.',
  },
  {
    name: 'form of a code',
    right: 'ours',
    why: '[A required binding](https://hl7.org/fhir/R4/terminologies.html#required) holds for languages, media types, currencies and countries, too, which are checked by their registries. Theirs needs a terminology server for them.',
  },
  {
    name: 'no terminology server',
    right: 'ours',
    why: 'Theirs warns that it cannot check units or codes without a terminology server; they are checked here, or nothing is known of them.',
    isLimit: true,
  },
  {
    name: 'display and binding',
    right: 'ours',
    why: '[A binding](https://hl7.org/fhir/R4/terminologies.html#binding) is to codes, not to displays: a wrong display is an error at the display. Without a server theirs also takes the code for one outside.',
  },
  {
    name: 'entry of a Bundle',
    right: 'ours',
    why: '[issue.expression](https://hl7.org/fhir/R4/operationoutcome-definitions.html#OperationOutcome.issue.expression) is the element that is wrong. Theirs names the first entry for every fullUrl.',
  },
  {
    name: 'codes of unknown systems',
    right: 'ours',
    why: '[A required binding](https://hl7.org/fhir/R4/terminologies.html#required) to a value set whose codes are all known does not allow a code of another system. Theirs says nothing where it does not know that system.',
  },
  {
    name: 'unknown is not an error',
    right: 'ours',
    why: '[A uri](https://hl7.org/fhir/R4/datatypes.html#uri) need not resolve. Theirs calls a url of HL7 that is not loaded an error, or a warning; here it is a warning, or nothing: what is not known is not wrong.',
  },
  {
    name: 'text of an element',
    right: 'ours',
    why: '[toString()](https://hl7.org/fhirpath/N1/#tostring-string) of an element with parts is empty, so that an invariant about it is not met. Theirs gives a text.',
  },
  {
    name: 'limits',
    right: 'ours',
    why: '[maxLength, minValue and maxValue](https://hl7.org/fhir/R4/elementdefinition-definitions.html#ElementDefinition.maxValue_x_) hold for every value of the type. Theirs leaves out markdown, and times that it cannot compare by their precision.',
  },
  {
    name: 'end of a list',
    right: 'ours',
    why: '[openAtEnd](https://hl7.org/fhir/R4/elementdefinition-definitions.html#ElementDefinition.slicing.rules): what is in no slice comes last. Theirs does not look at the order when a slice has too many.',
  },
  {
    name: 'content reference',
    right: 'ours',
    why: '[contentReference](https://hl7.org/fhir/R4/elementdefinition-definitions.html#ElementDefinition.contentReference) always refers to what the type says, not to what a profile adds. Theirs applies there, too, what a profile says inside of a data type.',
  },
  {
    name: 'index',
    right: 'ours',
    why: '[issue.expression](https://hl7.org/fhir/R4/operationoutcome-definitions.html#OperationOutcome.issue.expression) is the element that is wrong. Theirs leaves out the index of an element in a fixed value.',
  },
  {
    name: 'expression of a differential',
    right: 'ours',
    why: '[constraint.expression](https://hl7.org/fhir/R4/elementdefinition-definitions.html#ElementDefinition.constraint.expression) is FHIRPath that can be evaluated on the element. Theirs looks at those in snapshots only.',
  },
  {
    name: 'profile against its base',
    right: 'both',
    why: 'Both refuse the profile itself, as it allows a target that its base forbids. Theirs then says of resources that it cannot be used; here what it demands is checked.',
  },
  {
    name: 'snapshot that theirs cannot make',
    right: 'ours',
    why: '[The id](https://hl7.org/fhir/R4/elementdefinition.html#id) of an element names its slice: one without is for all items, also after the slices, and `participantEffectiveTimeFromStart` is an element, not a type of a choice.',
  },
  {
    name: 'extension in a wrong context',
    right: 'ours',
    why: 'The context of an element inside a [content reference](https://hl7.org/fhir/R4/defining-extensions.html#context) is the element that it refers to.',
  },
  {
    name: 'severity by example',
    right: 'ours',
    why: "R4's own examples do it, so it is a warning: an image that is not in the resource, a variable of a map that there is none, in a group without types, criteria that name a definition in a measure without libraries, a unit that its code system lacks, a canonical that leads to nothing contained, a UUID in upper case, which [RFC 4122](https://www.rfc-editor.org/rfc/rfc4122#section-3) allows on input.",
  },
  { name: 'too many findings', right: 'ours', why: 'At most 100 findings are reported (`limits.maxIssues`).', isLimit: true },
  { name: 'exception', right: 'ours', why: 'The validator ended with an exception.', isLimit: true },
]

/** Names of the reasons for which ours is right without a link to a paragraph. */
export function uncitedReasons(reasons: readonly Reason[]): readonly string[] {
  return reasons.filter(({ right, isLimit, why }) => right === 'ours' && isLimit !== true && !citesParagraph(why)).map(({ name }) => name)
}

/** Whether a text has a link to a paragraph: `[name](https://host/page#paragraph)`. */
function citesParagraph(text: string): boolean {
  const links = text.split('](https://').map((rest) => rest.slice(0, Math.max(0, rest.indexOf(')'))))
  return links.slice(1).some((link) => /^[^\s#]+#[^\s#]+$/.test(link))
}

/** A decision: a pattern of differences, and their reason. */
export interface Row {
  readonly side: 'ours' | 'theirs'
  readonly rule: RegExp
  readonly change?: RegExp
  readonly place?: RegExp
  readonly reason: string
}

/** The reasons of differences; the first row that matches decides. */
export const ROWS: readonly Row[] = [
  { side: 'theirs', rule: /^Type_Specific_Checks_DT_URL_Resolve$/, change: /extension/, reason: 'url of an extension' },
  { side: 'theirs', rule: /./, change: /^profile of another type$/, reason: 'profile of another type' },
  { side: 'ours', rule: /./, change: /^profile of another type$/, reason: 'profile of another type' },
  { side: 'ours', rule: /^narrative$/, change: /^attribute twice/, reason: 'attribute twice' },
  { side: 'ours', rule: /^id-form$/, reason: 'id of an element' },
  { side: 'ours', rule: /^empty-object$/, reason: 'only an id' },
  { side: 'ours', rule: /^reference$/, change: /^(reference to a wrong type|base)$/, reason: 'type of a reference' },
  { side: 'ours', rule: /^empty-array$/, reason: 'empty list' },
  { side: 'ours', rule: /^null-not-allowed$/, reason: 'null in a list' },
  { side: 'ours', rule: /^(code-not-in-value-set|code-system-not-inferred)$/, change: /^code outside/, reason: 'form of a code' },
  {
    side: 'theirs',
    rule: /^(Error_validating_code_running_without_terminology_services|UNKNOWN_CODESYSTEM|Terminology_TX_Error_.*)$/,
    reason: 'no terminology server',
  },
  { side: 'theirs', rule: /^json: A definition for CodeSystem/, reason: 'no terminology server' },
  {
    side: 'theirs',
    rule: /^(Terminology_TX_NoValid_.*|Terminology_TX_Confirm_.*)$/,
    change: /^(wrong display|wrong form|string as number|empty string)$/,
    reason: 'display and binding',
  },
  { side: 'theirs', rule: /^BUNDLE_ENTRY_URL_/, reason: 'entry of a Bundle' },
  { side: 'ours', rule: /^bundle-full-url$/, reason: 'entry of a Bundle' },
  { side: 'ours', rule: /^(code-not-in-value-set|code-system-not-inferred|code-unknown)$/, reason: 'codes of unknown systems' },
  { side: 'ours', rule: /^display-wrong$/, reason: 'codes of unknown systems' },
  { side: 'ours', rule: /^code-system-unknown$/, reason: 'unknown is not an error' },
  { side: 'theirs', rule: /^(Type_Specific_Checks_DT_URL_Resolve|Terminology_TX_ValueSet_NotFound)$/, reason: 'unknown is not an error' },
  { side: 'theirs', rule: /^(Terminology_TX_NoValid_13|Terminology_TX_Confirm_5)$/, change: /^base$/, reason: 'no terminology server' },
  { side: 'ours', rule: /^invariant$/, change: /^profile$/, reason: 'text of an element' },
  { side: 'ours', rule: /^value-limit$/, reason: 'limits' },
  { side: 'ours', rule: /^slice-order$/, reason: 'end of a list' },
  { side: 'ours', rule: /^reference$/, change: /^profile$/, reason: 'type of a reference' },
  { side: 'ours', rule: /^value-fixed$/, change: /^profile$/, reason: 'index' },
  { side: 'theirs', rule: /^(_DT_Fixed_Wrong|Profile_VAL_NotAllowed)$/, change: /^profile$/, reason: 'index' },
  {
    side: 'theirs',
    rule: /^Validation_VAL_Profile_Maximum$/,
    change: /^profile$/,
    place: /^Consent\.provision\.provision\[/,
    reason: 'content reference',
  },
  {
    side: 'ours',
    rule: /^(too-many|value-pattern)$/,
    change: /^profile$/,
    place: /^(Invoice\.totalNet|DeviceRequest\.authoredOn)$/,
    reason: 'profile against its base',
  },
  {
    side: 'ours',
    rule: /^too-many$/,
    change: /^profile$/,
    place: /^ValueSet\.contact\[\d+\]$/,
    reason: 'snapshot that theirs cannot make',
  },
  { side: 'ours', rule: /^definition-expression$/, change: /^profile as a resource$/, reason: 'expression of a differential' },
  {
    side: 'theirs',
    rule: /^Validation_VAL_Profile_NoSnapshot$/,
    place: /^(?!ResearchElementDefinition$|ValueSet$)/,
    reason: 'profile against its base',
  },
  {
    side: 'theirs',
    rule: /^Validation_VAL_Profile_NoSnapshot$/,
    place: /^(ResearchElementDefinition|ValueSet)$/,
    reason: 'snapshot that theirs cannot make',
  },
  {
    side: 'theirs',
    rule: /^SLICING_CANNOT_BE_EVALUATED$/,
    place: /^OrganizationAffiliation\.identifier\[\d+\]$/,
    reason: 'snapshot that theirs cannot make',
  },
  {
    side: 'theirs',
    rule: /^(ERROR_GENERATING_SNAPSHOT|json: No match found for .*|json: The profile http.*)$/,
    change: /^profile as a resource$/,
    reason: 'snapshot that theirs cannot make',
  },
  { side: 'theirs', rule: /^Extension_EXTP_Context_Wrong$/, reason: 'extension in a wrong context' },
  {
    side: 'theirs',
    rule: /^(Type_Specific_Checks_DT_XHTML_Resolve_Img|Type_Specific_Checks_DT_UUID_Valid)$/,
    change: /^base$/,
    reason: 'severity by example',
  },
  { side: 'theirs', rule: /^SM_(SOURCE|TARGET)_CONTEXT_UNKNOWN$/, change: /^base$/, reason: 'severity by example' },
  { side: 'theirs', rule: /^MEASURE_M_CRITERIA_CQL_NO_LIB$/, change: /^base$/, reason: 'severity by example' },
  { side: 'theirs', rule: /^Unknown_Code_in_Version$/, change: /^base$/, place: /\.denominator\.code$/, reason: 'severity by example' },
  {
    side: 'theirs',
    rule: /^TYPE_SPECIFIC_CHECKS_DT_URL_INTERNAL$/,
    place: /^PlanDefinition\..*\.definition$/,
    reason: 'severity by example',
  },
  { side: 'ours', rule: /^findings-cut$/, reason: 'too many findings' },
  // Consequences of a fault in another element, if neither element contains the other.
  {
    side: 'theirs',
    rule: /^(ERROR_GENERATING_SNAPSHOT|ERROR_PROCESSING_SNAPSHOT|SD_ED_TYPE_PROFILE_WRONG_TYPE|VALIDATION_HL7_WG_UNKNOWN|CONTAINED_ORPHAN_DOM3)$/,
    reason: SAME_FAULT,
  },
  {
    side: 'theirs',
    rule: /^(Validation_VAL_Profile_Minimum|Display_Name_for__should_be_one_of__instead_of|MEASURE_M_NO_GROUPS|ED_SEARCH_EXPRESSION_ERROR)$/,
    change: /^(empty list|empty object|null|list where|one value where|object for|string as|code outside|empty string|wrong form)/,
    reason: SAME_FAULT,
  },
  { side: 'theirs', rule: /#(ppc-1|msq-3|tcp-3)$/, change: /^(empty object|decimal point)/, reason: SAME_FAULT },
  { side: 'ours', rule: /^definition-snapshot$/, change: /^empty object$/, reason: SAME_FAULT },
  { side: 'ours', rule: /^(invariant|search-parameter-expression|code-system-empty|too-few)$/, reason: SAME_FAULT },
  { side: 'theirs', rule: /^Coding_has_no_system__cannot_validate$/, change: /^empty string$/, reason: SAME_FAULT },
  { side: 'theirs', rule: /^exception$/, reason: 'exception' },
]

/** The row that decides on a difference; `undefined` if none matches. */
export function decisionOn(
  { side, issue, change }: { side: 'ours' | 'theirs'; issue: Issue; change: string },
  rows: readonly Row[],
): Row | undefined {
  const { rule, place } = issue
  return rows.find(
    (row) => row.side === side && row.rule.test(rule) && row.change?.test(change) !== false && row.place?.test(place) !== false,
  )
}
