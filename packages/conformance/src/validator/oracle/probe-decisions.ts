/** The reason why our verdict on probes differs from that of the oracle. */
export interface ProbeDecision {
  /** Matches the names of the probes. */
  readonly probes: RegExp
  /** Explanation with a link to the paragraph that decides. */
  readonly why: string
  /** True if the oracle reached a limit of its own, which no specification mentions. */
  readonly isLimit?: true
}

const R4 = 'https://hl7.org/fhir/R4'
const XML = 'https://www.w3.org/TR/xml'

/** Every probe with a different verdict matches one of these decisions. Ours is right according to the cited paragraphs. */
export const DECIDED: readonly ProbeDecision[] = [
  {
    probes: /(sd\/fixBasePatternMore$|rule\/patterns: )/,
    why: `[pattern\\[x\\]](${R4}/elementdefinition-definitions.html#ElementDefinition.pattern_x_): a profile may add to the pattern of its base.`,
  },
  {
    probes: /sd\/minWrong$/,
    why: `[minValue\\[x\\]](${R4}/elementdefinition-definitions.html#ElementDefinition.minValue_x_) is for the types that have an order.`,
  },
  {
    probes: /sd\/maxLenCC$/,
    why: `[maxLength](${R4}/elementdefinition-definitions.html#ElementDefinition.maxLength) counts the characters of texts.`,
  },
  {
    probes: /(lim\/maxLengthEmoji|len\/emoji2?|maxLength\/"\u{1F44D}+")$/u,
    why: `[maxLength](${R4}/elementdefinition-definitions.html#ElementDefinition.maxLength) is a number of characters; theirs counts those of the supplementary planes twice.`,
  },
  {
    probes: /(vs\/f\/(exBad|myfOp|exprBoth|exprCql|exprBad)$|rule\/filters: )/,
    why: `[filter](${R4}/valueset-definitions.html#ValueSet.compose.include.filter): a property, an operator and a value that the code system defines; \`exists\` takes true or false, and an expression is one of FHIRPath that can be read.`,
  },
  {
    probes: /(vs\/sys\/dispDesig|att\/mime|att\/lang|sig\/targetBad|misc\/sub|cap\/formatBad|contained\/refUrl)$/,
    why: `[A required binding](${R4}/terminologies.html#required) holds for languages and media types, too; theirs needs a server for them.`,
  },
  {
    probes: /(vs\/(contained|inParameters)$|rule\/codes of value sets: )/,
    why: `[include.concept](${R4}/valueset-definitions.html#ValueSet.compose.include.concept) lists codes of the system; theirs needs a server for them.`,
  },
  {
    probes:
      /((cs\/all\/notVs|q\/vsCs|gd\/profBad|ad\/libBad|pd\/defBad|can\/vs\/sd|derSd|docSp|(ig|inst|sp|op|base|lib)Sd|profVs|tgtVs|bindCs|baseVs)$|rule\/canonicals: |snap5: target\/vs\/sd$|g2: globalVs$)/,
    why: `[A canonical](${R4}/references.html#canonical) leads to a resource of the type that the element names.`,
  },
  {
    probes: /urn:oid:1\.2(\.3)?"?$|cs\/urnUrl$|rule\/oids: /,
    why: `[oid](${R4}/datatypes.html#oid): two arcs are enough; theirs wants four.`,
  },
  {
    probes: /(ig\/(otherPkg|pipeDiff|verBad)$|rule\/guides: |guides g2: dep\/(pipeOther|verCaret)$)/,
    why: `[dependsOn](${R4}/implementationguide-definitions.html#ImplementationGuide.dependsOn) names one guide, by its package and its version.`,
  },
  {
    probes: /sig\/payload(Other|NotJson|NotB64)$/,
    why: '[RFC 7515](https://www.rfc-editor.org/rfc/rfc7515#section-5.2): a JWS is verified over the payload that it has, which is base64url.',
  },
  {
    probes: /(od\/circ$|rule\/circular operations: )/,
    why: `[base](${R4}/operationdefinition-definitions.html#OperationDefinition.base) is another operation.`,
  },
  {
    probes: /(od\/ok$|rule\/operations: )/,
    why: `[inputProfile](${R4}/operationdefinition-definitions.html#OperationDefinition.inputProfile) adds to the parameters, and need not repeat that one with a type has no resource.`,
  },
  {
    probes: /qr\/ew(Req)?\/dateEq$/,
    why: '[Equality](https://hl7.org/fhirpath/N1/#datetime-equality) of dates with different precision is not known, so the condition is not met.',
  },
  {
    probes: /qr\/beh\/noneff$/,
    why: `[enableWhen](${R4}/questionnaire-definitions.html#Questionnaire.item.enableWhen): conditions are joined by "or", and none is met.`,
  },
  {
    probes: /(qr\/opt\/(text|choiceRef)$|rule\/options: )/,
    why: `[answerOption](${R4}/questionnaire-definitions.html#Questionnaire.item.answerOption): an answer is one of the options, which may be references.`,
  },
  {
    probes: /(qr\/lim\/(maxLengthUrl|maxLengthOc|minLenText|refRes|maxSize|occGroup)$|rule\/targets of answers: )/,
    why: `[maxLength](${R4}/questionnaire-definitions.html#Questionnaire.item.maxLength) and the extensions next to it hold for every type of item that they are for.`,
  },
  {
    probes: /(q\/initType$|q3\/\w+\/initial$|rule\/initial values: )/,
    why: `[initial.value\\[x\\]](${R4}/questionnaire-definitions.html#Questionnaire.item.initial.value_x_) has the type of the item.`,
  },
  {
    probes: /ext\/urlFrag$/,
    why: `[Extension.url](${R4}/extensibility.html#Extension) is the url of the definition, which fixes it.`,
  },
  {
    probes: /(att\/b64ws$|rule\/base64: attachments\/the data)/,
    why: `[base64Binary](${R4}/datatypes.html#base64Binary) may have white space.`,
  },
  {
    probes: /ord\/openAtEnd/,
    why: `[openAtEnd](${R4}/profiling.html#slicing): what is in no slice comes last.`,
  },
  {
    probes: /(reslice\/|complexExt\/|rule\/reslicing: )/,
    why: 'Theirs makes no snapshot of a profile that slices a slice again, and does not find the url of an extension with parts of its own.',
    isLimit: true,
  },
  {
    probes: /extS\/(bd|bdOnly|fam)$/,
    why: `[Slices](${R4}/profiling.html#slicing) of the extensions of a primitive element hold like others, also where a profile has its elements in another order than the base.`,
  },
  {
    probes: /x\/(pi|attrNoQ|attrDup|two|decl|doctype|trail|prefix|prefixDiv|styleUrl)$|xh\/(imgJs|expr|pi|doctype)$|rule\/instructions: /,
    why: `[A narrative](${R4}/narrative.html#xhtml) is one well-formed div without document type and processing instructions that loads no styles and runs no scripts.`,
  },
  {
    probes: /x\/tableAttr$/,
    why: `[The narrative](${R4}/narrative.html#rules) has the attributes of chapters 7 to 11 and 15 of HTML 4, of which bgcolor is one.`,
  },
  {
    probes: /((x\/onlyImg|xh\/imgHash)$|rule\/images: )/,
    why: `[An image](${R4}/narrative.html#id) that is not in the resource is a warning, as R4's own examples have such.`,
  },
  {
    probes: /x\/(c1|cd800|cfffe)$/,
    why: `[Character references](${XML}/#sec-references) are to characters that XML can have.`,
  },
  {
    probes: /(p\/time\/"10:00:00\.1"|tmlim\/(min|max)ValueTime\/c)$/,
    why: `[time](${R4}/datatypes.html#time) may have fractions of seconds.`,
  },
  {
    probes: /(p\/(string\/"a\\u0000b"|base64Binary\/"====")|json2\/surr(Hi|Lo))$|rule\/base64: attachments\/data elsewhere/,
    why: `[string](${R4}/datatypes.html#string) has no U+0000, and base64 begins with what it encodes.`,
  },
  {
    probes: /(j\/(dupResType|rawNl|bomIn)|json2\/(endC|rtTwo|raw\w+|esc[BF]))$/,
    why: '[JSON](https://www.rfc-editor.org/rfc/rfc8259#section-7): names are unique and written as they are, and line breaks in strings are escaped.',
  },
  {
    probes: /(j\/(resTypeAbs|resTypeDt)|json2\/unsNeg)$/,
    why: `[resourceType](${R4}/json.html#resources) is a concrete resource type.`,
  },
  {
    probes: /(j\/idExt|json2\/underId)$/,
    why: `[Resource.id](${R4}/resource.html#id) has no extensions.`,
  },
  {
    probes: /(mr\/subjCount|measures r2: pop\/subject-list\/subj2)$/,
    why: `[subjectResults](${R4}/measurereport-definitions.html#MeasureReport.group.population.subjectResults) lists the subjects that are counted.`,
  },
  {
    probes: /(mr\/scN?\/cohort$|rule\/scores: |measures r2: score\/cohort\/)/,
    why: `[measureScore](${R4}/measurereport-definitions.html#MeasureReport.group.measureScore): a cohort has none.`,
  },
  {
    probes:
      /(ref\/relWrong|options: refs\/relWrong\/assumeValidRestReferences=false|tgt\/relGrp|ad\/subj|refs\/grp|tgtRel\/(two|unk|mix)|refForm\/(subject|profiled)\/Practitioner\/1)$/,
    why: `[A literal reference](${R4}/references.html#literal) names the type of its target, which must be allowed. Theirs looks at it only with \`assumeValidRestReferences\`.`,
  },
  {
    probes: /(dlim\/minD\/(y20|m6)|limDateTime\/v1)$/,
    why: `[date](${R4}/datatypes.html#date): a year or a month may be any of its days, of which some are allowed.`,
  },
  {
    probes: /(dlim\/maxD\/(m7|d16|y21)|ilim\/maxValueInstant\/b|limDateTime\/v[67])$/,
    why: `[maxValue\\[x\\]](${R4}/elementdefinition-definitions.html#ElementDefinition.maxValue_x_) holds for dates and instants, too.`,
  },
  {
    probes: /(bind\/\w+\/\w+\/aDe|vsf\/(dispVs\/cust|desVs\/eig(De)?)|csc\/example\/bad)$|rule\/displays of value sets: /,
    why: `[display](${R4}/datatypes-definitions.html#Coding.display) is one that the code system or the value set has, in any language where the resource states none.`,
  },
  {
    probes:
      /(bind\/required\/\w+\/(unkAnd|sno|snoVer2?|snoBad|loinc)|bqty\/kg|vsf\/(imp|filterUnk|supp)\/\w+|c\/(required|ext)\/noSysZ|nosys\/coding\/required\/whole\d\/a|b\/noSys\/Coding\/required)$|rule\/what is not known: /,
    why: `[A required binding](${R4}/terminologies.html#required) wants one code of the value set, for units too: what it lacks is an error without a server, and what is not known is none.`,
  },
  {
    probes:
      /((bind\/extensible\/some\/(html|hl7no|thoNo|v2old|v3old)|q\/hl7unk|sysb?\/(html|valuesetHtml|hl7|cm)|sid\/icd9de)$|rule\/unknown: )/,
    why: `[A uri](${R4}/datatypes.html#uri) need not resolve: a code system that is not known is a warning, or noted where nothing binds the code.`,
  },
  {
    probes: /((bind\/extensible\/some\/rel|vsf\/verNo\/zz|sysb?\/(frag|rel|valueset))$|rule\/systems: )/,
    why: `[system](${R4}/datatypes-definitions.html#Coding.system) is an absolute URI, and defines the code, whatever version a value set names.`,
  },
  {
    probes: /(max\/pref\/(i|unk)$|rule\/maximum: )/,
    why: 'Theirs looks at the maximum value set of extensible bindings only.',
    isLimit: true,
  },
  {
    probes: /vsf\/expBoth\/[bin]$/,
    why: `[compose](${R4}/valueset-definitions.html#ValueSet.compose) defines the codes; a stored expansion may have a part of them.`,
  },
  {
    probes: /((snap\/sliceFix|slice\/child(Min|Fix|Pat|Ms))$|rule\/derived profiles: |snap5: derived\/\w+\/childFix\/sd$)/,
    why: `[Slices](${R4}/profiling.html#slicing) of the base keep what it says of them, in profiles on it, too.`,
  },
  {
    probes: /(con\/(bad|unk|unkF)$|rule\/constraints: )/,
    why: `[expression](${R4}/elementdefinition-definitions.html#ElementDefinition.constraint.expression) is FHIRPath that can be read. Theirs looks at those of the root in snapshots only.`,
  },
  {
    probes: /(type\/Patient\.id>|sd6\/id\/typeStr$)/,
    why: 'Theirs allows no type to be stated for the id of a resource, not even its own.',
    isLimit: true,
  },
  {
    probes: /(short\/twoZero|snap5: choice\/shortTwo\/sd)$/,
    why: `[max](${R4}/elementdefinition-definitions.html#ElementDefinition.max): what may not occur is no other type of the choice.`,
  },
  {
    probes: /(q\/(no|tho|case|dose|range|sampled)$|rule\/units: )/,
    why: `[code](${R4}/datatypes-definitions.html#Quantity.code) of a Quantity is bound to nothing: one that its system lacks is a warning, as R4's own examples have such units.`,
  },
  {
    probes: /pd\/rel$/,
    why: `[ele-1](${R4}/element.html#ele-1): an element has a value or children besides its id.`,
  },
  {
    probes: /d\/extPath\/ok$/,
    why: 'Theirs does not find the url of an extension that a discriminator names, where the slice has the extension by its profile.',
    isLimit: true,
  },
  {
    probes: /((f\/cc\/id|f\/fbool\/ext|z\/fixed\w+\/id|z\/(fixed|pattern)\w+\/onlyExt)$|rule\/fixed values: )/,
    why: `[fixed\\[x\\]](${R4}/elementdefinition-definitions.html#ElementDefinition.fixed_x_) is the whole value: what it lacks must be missing, and what it has must be there.`,
  },
  {
    probes: /f\/phn\/ok$/,
    why: `[pattern\\[x\\]](${R4}/elementdefinition-definitions.html#ElementDefinition.pattern_x_): a list has at least the items of the pattern.`,
  },
  {
    probes: /(src\/(warning|information)\/(none|mix|txt)$|rule\/sources: )/,
    why: 'Theirs takes every level of the extension `narrative-source-control` for an error.',
    isLimit: true,
  },
  {
    probes:
      /((choiceSl\/qOk|nested\/both|comp\/ok|cref\/(ok|deep|noText)|choice\/shortIn)$|rule\/choices: |snap5: choice\/(shortSub|(into|constrainedShort)\/inst$))/,
    why: 'Theirs makes no snapshot, or a wrong one, of a profile that adds a slice to a choice or inside a slice of its base, or goes into a content reference.',
    isLimit: true,
  },
  {
    probes: /vital\/(noCat|catText)$|codes of vital signs: |rule\/vital signs: /,
    why: `[category](${R4}/observation-definitions.html#Observation.category) says what is a vital sign; the option \`vitalSigns\` demands the profiles of all Observations with such codes, as theirs does.`,
  },
]
