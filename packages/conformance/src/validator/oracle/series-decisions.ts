import type { ProbeDecision } from './probe-decisions.js'

const R4 = 'https://hl7.org/fhir/R4'
const FHIRPATH = 'https://hl7.org/fhirpath/N1'

/** Decisions on probes of values, Bundles, forms, invariants and discriminators that were made in series. */
export const DECIDED_OF_SERIES: readonly ProbeDecision[] = [
  {
    probes: /^maps r1: (def\/choice(Source|Target|Both)|orphan\/chain)$/,
    why: `[type](${R4}/structuremap-definitions.html#StructureMap.group.input.type): of what type a value is may be known only when the map is run; then nothing is wrong yet.`,
  },
  {
    probes:
      /^definitions r1: (base\/notSd|restr\/(bind|constraintBad)\w*|tslice\/twoTypesTyped|ctx\/prof|tp\/fhirpathType)$|^guides r1: global\/notSd$/,
    why: `[Canonicals](${R4}/references.html#canonical) lead to resources of the type that is stated; [bindings](${R4}/elementdefinition-definitions.html#ElementDefinition.binding) are for codes; the expressions of a differential must be FHIRPath; and what is in a profile that is not known is not known.`,
  },
  {
    probes: /^guides r1: (dep\/version\/|dep\/uri\/|known\/|dep\/package\/50_)/,
    why: `[dependsOn](${R4}/implementationguide-definitions.html#ImplementationGuide.dependsOn) names one package and one version of it; theirs looks at few of these, and knows the canonicals of some packages.`,
  },
  {
    probes: /^forms r1: (q\/(init|opt)\/|r\/ref\/)/,
    why: `[initial](${R4}/questionnaire-definitions.html#Questionnaire.item.initial) values have the type of the question, answers that are references lead to the types that it allows, and an answerValueSet is a value set.`,
  },
  {
    probes: /^forms r1: r\/(lim\/(maxLen|size|maxDateY)|dis\/qtyConv\/off\/|unit\/unitVs|occ\/max2)/,
    why: `[maxLength](${R4}/questionnaire-definitions.html#Questionnaire.item.maxLength) counts characters of all texts, [quantities](${R4}/questionnaire-definitions.html#Questionnaire.item.enableWhen.operator) are compared in one unit, and a limit may be reached.`,
  },
  {
    probes: /^further q8: expr\/error\/(notBool|where|cast)$/,
    why: `[Singletons](${FHIRPATH}/#singleton-evaluation-of-collections): several items are not a Boolean, and a date is not converted to an integer.`,
  },
  {
    probes: /^conformance q4: bp\/\w+\/error\/false\//,
    why: `[severity](${R4}/elementdefinition-definitions.html#ElementDefinition.constraint.severity): a profile may make an error of what the base only recommends; theirs keeps what the base says of the key.`,
  },
  {
    probes: /^replaced n1: slice\/openAtEnd\//,
    why: `[slicing.rules](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.rules) openAtEnd: what is in no slice comes after the slices.`,
  },
  {
    probes: /^replaced n2: chain\/required\//,
    why: `[A required binding](${R4}/profiling.html#binding-strength) cannot be relaxed: a profile that builds on it may leave out codes, and add none.`,
  },
  {
    probes: /(^discriminators d7: choice\/string\/slice\/|^guides q2: mcode5\/str$)/,
    why: `[closed](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.rules): nothing but what is in the slices is allowed.`,
  },
  {
    probes: /^discriminators d7: entry\/profile\/resource\/typeOther/,
    why: `[type.code](${R4}/elementdefinition-definitions.html#ElementDefinition.type.code) says what is in the slice, where a discriminator by profile finds no profile.`,
  },
  {
    probes: /^discriminators d7: (entry\/profile\/resource\.resolve\(\)|subject\/profile)\//,
    why: 'Theirs leaves out resolve() where nothing but a profile follows, and finds no resource that conforms to Resource.',
    isLimit: true,
  },
  {
    probes: /^periods p1: /,
    why: `[Comparison](${FHIRPATH}/#comparison) of a date with a time in a zone is by the numbers that both have; theirs turns the time into UTC first, but not the date.`,
  },
  {
    probes: /^values v9: (\w+\/"urn:uuid:0B8A|identifierValue\/.*\/URN:UUID:)/,
    why: '[RFC 4122](https://www.rfc-editor.org/rfc/rfc4122#section-3): letters of a UUID are written in lower case, and read in either.',
  },
  {
    probes: /^values v9: \w+\/"urn:oid:1\.2\.3\.4\."$/,
    why: `[oid](${R4}/datatypes.html#oid): no point is at the end of an OID.`,
  },
  {
    probes:
      /(^values v9: (Canonical\/"(http:|HTTP:\/\/A\.ORG\/x|urn:)"|identifierSystem\/"(HTTP|ftp|mailto|data|tel|cid|file|javascript):.*")$|^conformance q4: .*:upper$)/,
    why: '[A URI is absolute](https://www.rfc-editor.org/rfc/rfc3986#section-4.3) by its scheme, which is in upper or lower case; theirs knows some schemes.',
  },
  {
    probes: /^values v9: (Code|Id)\/"\\t"$/,
    why: `[code](${R4}/datatypes.html#code) and id have other characters than white space.`,
  },
  { probes: /^values v9: Time\/"10:00:00\.123"$/, why: `[time](${R4}/datatypes.html#time) may have fractions of seconds.` },
  {
    probes: /^values v9: attachment(Content)?\/data(Ws|Nl)$/,
    why: `[base64Binary](${R4}/datatypes.html#base64Binary) may have white space.`,
  },
  {
    probes:
      /(^(values v9: (attachment(Content)?\/(lang|ct)\d?|Money\/(bad|low|old))|code systems c9: 901\/(34|37|76|81))$|^types q1: \w+\/(max|lastType|types2|numbers)$|^conformance q4: cap\/format)/,
    why: `[A required binding](${R4}/terminologies.html#required) holds for languages, media types and currencies, too; theirs needs a server for them.`,
  },
  {
    probes: /^values v9: Range\//,
    why: `[Comparison](${FHIRPATH}/#comparison) of amounts of different dimensions is empty, so that rng-2 is not met.`,
  },
  {
    probes: /^values v9: primitive\/idOnly$/,
    why: `[ele-1](${R4}/element.html#ele-1): an element has a value or children besides its id.`,
  },
  {
    probes:
      /(^(bundles b9: \w+\/\w+\/Observation\/1|profiles w4: refs\/\w+\/identNested)$|^(types q1: \w+\/(wrongRef|oddRef)|containers q5: .*\/wrongType|options q7: assumeValidRestReferences\/false\/.*)$)/,
    why: `[A literal reference](${R4}/references.html#literal) names the type of its target, which must be allowed.`,
  },
  {
    probes:
      /(^bundles b9: \w+\/\w+\/(patient\/1|Patient\/(1\?x)?)$|^(containers q5: .*\/bad|options q7: assumeValid\w+\/true\/bundle\/lower|further q8: cond\/.*)$)/,
    why: `[A literal reference](${R4}/references.html#literal) that is relative is a type of resource and an id, each in its form.`,
  },
  {
    probes: /^bundles b9: full\/two(Same|None)?\/(searchset|history)\//,
    why: `[References in Bundles](${R4}/bundle.html#references) may match several entries, which histories and searches have of the versions of a resource; applications choose.`,
  },
  {
    probes:
      /^invariants v2: root\/\d+\/.*(\.(sum|max|min|avg)\(\)|getValue\(\)|toDate\(\)|toTime\(\)|\$total, 0\)|checkModifiers\(\)|'g' > 1 'mg')/,
    why: `[Functions](${FHIRPATH}/#functions) and conversions of units that theirs does not have, or not for all types.`,
  },
  {
    probes: /^invariants v2: root\/\d+\/(birthDate(\.type\(\)\.name = | is FHIR\.)|type\(\)\.namespace)/,
    why: `[type()](${FHIRPATH}/#reflection) of an element is its type in FHIR.`,
  },
  {
    probes: /^invariants v2: root\/\d+\/(%resource\.name = name|\$this as Patient = \$this)$/,
    why: `[Equality](${FHIRPATH}/#equality): what is the same is equal.`,
  },
  {
    probes: /^invariants v2: Patient\.text\/0\/div\./,
    why: `[Keywords](${FHIRPATH}/#keywords) such as div are names in back ticks only.`,
  },
  { probes: /^invariants v2: root\/\d+\/name\.sort\(/, why: `[Functions](${FHIRPATH}/#functions) of FHIRPath have no sort.` },
  {
    probes: /^invariants v2: root\/\d+\/hasValue\(\)$/,
    why: `[hasValue()](${R4}/fhirpath.html#functions) is for primitive values.`,
  },
  {
    probes: /^value sets c9: 901\/(2|6|17|25|34|37|44|51|61|73|75|93|101)$/,
    why: `[include](${R4}/valueset-definitions.html#ValueSet.compose.include) names a code system, and codes and values of properties that it has; theirs needs a server for them.`,
  },
  {
    probes: /^(value sets c9: 901\/(26|102)|code systems c9: 901\/(15|55)|forms f9: 17\/(12|18|72|84|135|143)\/response)$/,
    why: 'Theirs ends with an exception, for parts of value sets without a system, conditions and limits of other types than the answers, or does not know a code system of the terminology package.',
    isLimit: true,
  },
  {
    probes: /^code systems c9: 901\/(28|104)$/,
    why: `[deprecated](${R4}/codesystem.html#defined-props) is a property that FHIR defines.`,
  },
  {
    probes: /^forms f9: 17\/(43|46|76|99)\/response$/,
    why: 'Theirs takes a number of answers that is the minimum or the maximum for one outside.',
    isLimit: true,
  },
  {
    probes: /^forms f9: 17\/13\/response$/,
    why: `[required](${R4}/questionnaire-definitions.html#Questionnaire.item.required) is for items that can be answered, which displays cannot.`,
  },
  {
    probes: /^forms f9: 17\/(50|115)\/response$/,
    why: `[maxLength](${R4}/questionnaire-definitions.html#Questionnaire.item.maxLength) holds for every type of item that it is for.`,
  },
  {
    probes: /^profiles w4: target\/\w+\/\w+\/(Resource|DomainResource)$/,
    why: 'Theirs makes no snapshot of a profile with a target that its base does not allow, and refuses every resource for that.',
    isLimit: true,
  },
  {
    probes: /^profiles w4: version\//,
    why: `[A canonical](${R4}/references.html#canonical) may name a version: ours takes 1 for any 1.x and an empty one for none, theirs 1.0.0 for 1.0.`,
  },
  {
    probes: /^profiles w4: ext\/\w+\/\w+\/1\/\|2$/,
    why: `[Extension.url](${R4}/extensibility.html#Extension) tells an extension, also where the version of its definition is not known.`,
  },
  {
    probes: /^further x3: systems\/\w+\/(http:\/\/(hl7\.org\/fhir|terminology\.hl7\.org)\/ValueSet\/|LOINC$|2\.16\.840)/,
    why: `[system](${R4}/datatypes-definitions.html#Coding.system) is an absolute URI of a code system, and no value set.`,
  },
  {
    probes: /^further x3: systems\/\w+\/http:\/\/(hl7\.org\/fhir\/|terminology\.hl7\.org\/CodeSystem\/)/,
    why: `[A uri](${R4}/datatypes.html#uri) need not resolve: a code system that is not known is a warning, or noted where nothing binds the code.`,
  },
  {
    probes: /^further x3: systems\/\w+\/urn:iso:std:iso:3166$/,
    why: `[code](${R4}/datatypes-definitions.html#Coding.code) is one of the system, whose registry is known here.`,
  },
  {
    probes: /^further x3: entry\/two\/b$/,
    why: `[type](${R4}/elementdefinition-definitions.html#ElementDefinition.type) lists alternatives; theirs takes the first one of several with one code.`,
  },
  {
    probes: /^further x3: (fixed|pattern)\/name\/\d$/,
    why: 'Theirs takes the family name for a given name, a prefix and a suffix, too.',
    isLimit: true,
  },
  {
    probes: /^further x3: fixed\/telecom\/1$/,
    why: `[fixed\\[x\\]](${R4}/elementdefinition-definitions.html#ElementDefinition.fixed_x_) is the whole value: what it lacks must be missing.`,
  },
  {
    probes: /^fields h1: unknownProfile\/\d\/extension(Same)?$/,
    why: `[url](${R4}/extensibility-definitions.html#Extension.url) is the canonical of the definition, so that extensions are in their slice even where the definition is not known.`,
  },
  {
    probes: /^fields h1: (slicing\/component\/noDiscClosed\/\w+|unknownProfile\/1\/vsSlice)$/,
    why: 'Theirs finds no slice without discriminators, and takes codes of a value set that is not known as others.',
    isLimit: true,
  },
  {
    probes: /^fields h1: slicing\/component\/atEnd\/ba$/,
    why: `[openAtEnd](${R4}/valueset-resource-slicing-rules.html#resource-slicing-rules-openAtEnd): what is in no slice comes last.`,
  },
  {
    probes: /^fields h1: (fixed|pattern)\/(name|telecom)\/\d$/,
    why: `[pattern](${R4}/elementdefinition-definitions.html#ElementDefinition.pattern_x_): each element of it is found, others may be there; rank is an element, too. Theirs counts names, and compares prefixes with those of the pattern as given names.`,
  },
  {
    probes: /^fields h1: (minValue\/DateTime\/5|maxValue\/DateTime\/2|range\/units(Ok)?)$/,
    why: `[Comparison](${FHIRPATH}/#comparison) of times is by the numbers that both have, and of amounts by their common unit; theirs leaves dates out, and compares the numbers of amounts.`,
  },
  {
    probes: /^fields h1: value\/((decimal|quantity)\/0e0|time\/12:00:00\.000)$/,
    why: `[decimal and time](${R4}/datatypes.html#primitive) may have an exponent and fractions of seconds.`,
  },
  {
    probes: /^fields h1: bundle\/collection\/fullUrl\/(urn:oid:1\.2\.3|URN:UUID:.*|urn:uuid:.*A)$/,
    why: `[oid](${R4}/datatypes.html#oid) may have three numbers, and [RFC 4122](https://www.rfc-editor.org/rfc/rfc4122#section-3) reads letters of either case.`,
  },
  {
    probes: /^fields h1: (value\/money\/.*|codeSystem\/designationLang|capability\/format|language\/en-)$/,
    why: `[A required binding](${R4}/terminologies.html#required) holds for languages, media types and currencies, too; theirs needs a server for them.`,
  },
  {
    probes: /^fields h1: (language\/(x-klingon|i-klingon|en-US-x-twain)|valueSet\/sctEcl)$/,
    why: 'Theirs takes such languages for none, though they are language tags, and has no expressions of SNOMED CT without a server.',
    isLimit: true,
  },
  {
    probes: /^fields h1: valueSet\/badCode$/,
    why: `[concept.code](${R4}/valueset-definitions.html#ValueSet.compose.include.concept.code) is one of the code system, which is complete. Theirs looks it up on a terminology server only.`,
  },
  {
    probes: /(^fields h1: (questionnaire\/setNotVS|plan\/defWrong)$|^(types q1: MessageHeader\/uris|conformance q4: cap\/inst)$)/,
    why: `[A canonical](${R4}/references.html#canonical) refers to a resource of the types that the element names.`,
  },
  {
    probes: /^fields h1: questionnaire\/initialType$/,
    why: `[initial.value\\[x\\]](${R4}/questionnaire-definitions.html#Questionnaire.item.initial.value_x_) has the type of the item.`,
  },
  {
    probes: /^fields h1: questionnaire\/head\/preferred$/,
    why: 'Theirs had a package with this extension loaded; here R4 alone is known.',
    isLimit: true,
  },
  {
    probes: /^fields h1: response\/(aBig|refGroup)\//,
    why: `[maxSize and referenceResource](${R4}/questionnaire-profiles.html#extensions) limit answers: theirs drops the decimals of a size, and follows a reference only to what it finds.`,
  },
  {
    probes: /^book u1: vsfilter\/(\w+\/is-a|s\/exists)\//,
    why: `[is-a and exists](${R4}/valueset-filter-operator.html#definition) ask for a concept and for true or false. Theirs does not look at them for every type of property.`,
  },
  {
    probes: /^book u1: vsfilter\/rel\/=\/(#q|http:\/\/zu8\.test\/cs\|\d#q)$/,
    why: `[A Coding as the value of a filter](${R4}/valueset-definitions.html#ValueSet.compose.include.filter.value) is written system|version#code, with a system.`,
  },
  {
    probes: /^book u1: vsinc\//,
    why: `[concept](${R4}/valueset-definitions.html#ValueSet.compose.include.concept.code): a code in a value set is one of the system. Theirs asks a server.`,
  },
  {
    probes: /^book (u1: vsnosys|u2: forms|u5: bind)\//,
    why: `[A required binding](${R4}/terminologies.html#required) allows only codes of the value set, with their system: none is in a part without system, in a part of another system, or in none. Theirs passes over elements out of order in a differential, and takes a filter that cannot be applied for one that finds nothing.`,
  },
  {
    probes: /^book u2: concept\/(cc|tag)\/none\//,
    why: `[display](${R4}/datatypes.html#Coding): a code system that gives a concept no display does not say that another one is wrong.`,
  },
  {
    probes: /^book u2: concept\/(cc|tag)\/nd\//,
    why: `[designation](${R4}/codesystem-definitions.html#CodeSystem.concept.designation): texts in other languages may be displays, where a resource does not say its language.`,
  },
  {
    probes: /^book u2: sys\//,
    why: `[Coding.system](${R4}/datatypes.html#Coding) is the absolute URI of a code system, and not of a supplement, a value set or a map.`,
  },
  {
    probes: /^book (u3: attach\/el|u4: att\/\w+)\/size/,
    why: `[size](${R4}/datatypes-definitions.html#Attachment.size) is the number of bytes before they are encoded. Theirs looks only at data.`,
  },
  {
    probes: /^book u3: (contained|entry)type\/three\//,
    why: `[type.profile](${R4}/elementdefinition-definitions.html#ElementDefinition.type.profile): what conforms to one of several profiles need not conform to an unknown one.`,
  },
  {
    probes: /^book u3: extver\/frag\//,
    why: `[Extension.url](${R4}/extensibility-definitions.html#Extension.url) is the url of the definition, which fixes it.`,
  },
  {
    probes: /^book u3: slice\/badPath\/def$/,
    why: `[discriminator.path](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.discriminator.path) leads to an element of the type.`,
  },
  { probes: /^book u3: slice\/patternText\//, why: 'Theirs cannot compare the texts of concepts.', isLimit: true },
  {
    probes: /^book (u4|u5): crit\/text\/cql(-identifier)?\//,
    why: `[criteria](${R4}/measure-definitions.html#Measure.group.population.criteria) may be CQL without a library, and names may be quoted.`,
  },
  {
    probes: /^book u4: (derived\/\w+\/vs|opbase\/vs(\/notLoaded)?)$/,
    why: `[A canonical](${R4}/references.html#canonical) names a resource of the type that the element takes. Theirs looks only at what it fetches.`,
  },
  {
    probes: /^book u4: opbase\//,
    why: `[base](${R4}/operationdefinition-definitions.html#OperationDefinition.base) is another operation. Theirs sees only a circle of one that is loaded, and does not end when two others are a circle.`,
  },
  {
    probes: /^book u4: opprof\//,
    why: `[A parameter](${R4}/parameters.html#Parameters) has a value, a resource or parts: a profile that states the type of the value need not forbid resources.`,
  },
  {
    probes: /^book u4: opt\/choice\/refs\/ref$/,
    why: `[answerOption](${R4}/questionnaire-definitions.html#Questionnaire.item.answerOption.value_x_) may be a reference, so the answer is one.`,
  },
  {
    probes: /^book (u4: ref|u5: ref\/(dom|histObs))\//,
    why: `[A literal reference](${R4}/references.html#literal) has a type of resource, an id, and perhaps a version. Theirs looks at it only on request, and takes the last part but one for the type.`,
  },
  {
    probes: /^book u5: json\//,
    why: '[JSON](https://www.rfc-editor.org/rfc/rfc8259#section-8.2) should not have unpaired surrogates.',
  },
]
