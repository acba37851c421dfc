import type { ProbeDecision } from './probe-decisions.js'

const R4 = 'https://hl7.org/fhir/R4'
const FHIRPATH = 'https://hl7.org/fhirpath/N1'

/** Decisions on further probes of messages of HL7's validator, and on probes of kinds of faults that no other series has. */
export const DECIDED_OF_KINDS: readonly ProbeDecision[] = [
  {
    probes: /^rules s1: xver\//,
    why: 'Theirs needs packages of the other releases to know extensions for their elements.',
    isLimit: true,
  },
  {
    probes: /^rules s1: (infer\/string\/(mime|lang)|infer\/code\/mime|include\/(bad|many))\/|^kinds k1: attachment\/(type|typeWild|lang)$/,
    why: 'Theirs looks these codes up on a terminology server only.',
    isLimit: true,
  },
  {
    probes: /^rules s2: indeterminate\//,
    why: 'Theirs knows neither the codes of colours, nor those of URIs, of which every one is a code.',
    isLimit: true,
  },
  {
    probes: /^rules s1: profile\/(typeSlice\w*|illegalType2?|slice\w+|derivedNoDerivation|firstType|sameId)$/,
    why: 'Theirs makes no snapshot of such a profile, and refuses every resource for that. Here the profile is wrong, and what it demands is applied.',
    isLimit: true,
  },
  {
    probes: /^(kinds k2: discriminator\/position\/none|kinds k1: profileList\/ext|kinds k1: range\/unitsDiffer)$/,
    why: 'Theirs ends with an exception: for slices by position, which R4 does not have, for a profile without a value, and for amounts without codes.',
    isLimit: true,
  },
  {
    probes: /^rules s1: addressPattern\/wrong$/,
    why: `[pattern[x]](${R4}/elementdefinition-definitions.html#ElementDefinition.pattern_x_): each line of the pattern is among the lines of the address. Theirs reports the other ones to a list that it throws away.`,
  },
  {
    probes: /^rules s1: hl7System\/example\/wrong$/,
    why: `[content](${R4}/codesystem-definitions.html#CodeSystem.content): of an example, the concepts that are there are defined, with their displays, as of a fragment.`,
  },
  {
    probes: /^rules s1: systemValueSet\//,
    why: `[Coding.system](${R4}/datatypes.html#Coding) is that of a code system; theirs says so only of amounts.`,
  },
  {
    probes: /^rules s1: strengthMax\/\w+\/(preferred|example)\/true\/out$/,
    why: `[maxValueSet](${R4}/elementdefinition-definitions.html#ElementDefinition.binding) is required in addition to the binding itself; theirs looks at it only if the binding is extensible.`,
  },
  {
    probes: /^rules s1: sid\/|^rules s2: sidKnown\/|^rules s1: definition\/obligation\/tools\//,
    why: `[A uri](${R4}/datatypes.html#uri) need not resolve; theirs calls one of HL7 that is not loaded an error.`,
  },
  {
    probes: /^rules s1: canonicalOther\/|^kinds k1: identifierParts\/assigner$/,
    why: `[A canonical or reference](${R4}/references.html#canonical) leads to a resource of a type that the element names; theirs looks at some elements only.`,
  },
  {
    probes: /^rules s1: profileAsked\/(dom|res)$/,
    why: `[type.profile](${R4}/elementdefinition-definitions.html#ElementDefinition.type.profile): every resource conforms to the type from which its own is derived.`,
  },
  {
    probes: /^rules s1: global\/Patient\/true\/true$/,
    why: `[global](${R4}/implementationguide-definitions.html#ImplementationGuide.global): resources of the type conform to the profile; theirs reads guides of packages only.`,
  },
  {
    probes: /^rules s1: json\/lineComment$/,
    why: '[JSON](https://www.rfc-editor.org/rfc/rfc8259#section-2) has no comments.',
  },
  {
    probes: /^rules s1: profile\/(unknownElement|bindingWeaker)$/,
    why: `[A differential](${R4}/profiling.html#snapshot) has elements of its base only, and a required binding of the base holds for what is derived, too.`,
  },
  {
    probes: /^rules s1: profileItself\/valueType(minValueInteger|maxValueDate)$/,
    why: `[minValue[x] and maxValue[x]](${R4}/elementdefinition-definitions.html#ElementDefinition.minValue_x_) are for types that have an order.`,
  },
  {
    probes: /^(rules s1: answer\/options\/text|book u4: optOn\/text)\//,
    why: `[answerOption](${R4}/questionnaire-definitions.html#Questionnaire.item.answerOption) lists the permitted answers, of whatever type; theirs does not look at those of texts.`,
  },
  {
    probes: /^rules s1: definition\/fixedAgain\//,
    why: `[fixed[x] and pattern[x]](${R4}/elementdefinition-definitions.html#ElementDefinition.pattern_x_) of a base hold for what is derived, which may repeat them and must not contradict them.`,
  },
  {
    probes: /^rules s1: narrative\/(pi|piIn|attrNoQuote|attrDup|prefix|commentDoctype)$/,
    why: `[A narrative](${R4}/narrative.html#xhtml) is one div that is well-formed and has nothing but elements, comments and text, without prefixes and instructions. A comment may begin with any word.`,
  },
  {
    probes: /^rules s1: narrative\/imgRef$/,
    why: `[Images](${R4}/narrative.html#id) that do not resolve are a warning, as examples of R4 have them.`,
  },
  {
    probes: /^kinds k1: profileVersions?\/(\w|\.)*\/?\|1?2?(\/\w+)?$/,
    why: `[A canonical](${R4}/references.html#canonical) with the first part of a version means the latest with it, as with two parts in both; one with an empty version names none.`,
  },
  {
    probes: /^kinds k1: primitiveExtension\/deceasedMixed$/,
    why: `[A choice](${R4}/formats.html#choice) has one type; extensions of another one count, too.`,
  },
  {
    probes: /^kinds k1: attachment\/(spaces|newline)$/,
    why: `[base64Binary](${R4}/datatypes.html#base64Binary) may have white space between groups of four characters.`,
  },
  {
    probes: /^kinds k1: (attachment\/urlUrn|identifierSystem\/urn:oid:1\.2\.3)$/,
    why: `[oid](${R4}/datatypes.html#oid): its pattern takes short ones, too.`,
  },
  {
    probes: /^kinds k1: identifierSystem\/mailto:a@b$/,
    why: `[Identifier.system](${R4}/datatypes-definitions.html#Identifier.system) is an absolute URI, of whatever scheme.`,
  },
  {
    probes: /^kinds k1: range\/invertedUcum$/,
    why: `[rng-2](${R4}/datatypes.html#Range): 3 g are more than 2000 mg; theirs does not convert units.`,
  },
  {
    probes: /^kinds k2: orderedSlices\/(true|false)\/openAtEnd\/(cab|acb)$/,
    why: `[slicing.rules](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.rules) openAtEnd: what is in no slice comes after the slices.`,
  },
  {
    probes: /^kinds k2: questionnaire\/item\/wrong$/,
    why: `[initial.value[x]](${R4}/questionnaire-definitions.html#Questionnaire.item.initial.value_x_) has the type of the item.`,
  },
  {
    probes: /^kinds k2: score\//,
    why: `[group.code](${R4}/measurereport-definitions.html#MeasureReport.group.code) has the meaning of the group of the measure, which the same text has.`,
  },
  {
    probes: /^kinds k2: constraint\//,
    why: `[expression](${R4}/elementdefinition-definitions.html#ElementDefinition.constraint.expression) of a differential is [FHIRPath](${FHIRPATH}/#functions) as that of a snapshot is; theirs looks at snapshots only.`,
  },
  {
    probes: /^kinds k2: signature\/\w+\/!!!$/,
    why: '[The payload of a JWS](https://www.rfc-editor.org/rfc/rfc7515#section-7.1) is text in base64url.',
  },
  {
    probes: /^siblings: trial\/\w+\/warn$/,
    why: 'Theirs looks up languages on a terminology server only.',
    isLimit: true,
  },
  {
    probes: /^siblings: typesTwice\/|^siblings: form\/occurs\/(string|choice)\/|^siblings: form\/occurs\/group\/(1-2|2-undefined)\//,
    why: 'Theirs finds no type if two types have the same code, takes as many answers as are allowed for too many or too few, and counts the answers of groups.',
    isLimit: true,
  },
  {
    probes: /^siblings: trial\/\w+\/refType$/,
    why: `[targetProfile](${R4}/elementdefinition-definitions.html#ElementDefinition.type.targetProfile): a relative reference names the type of its target. Theirs looks at it if something resolves references.`,
  },
  {
    probes: /^siblings: bundleMultiple\/searchset\//,
    why: `[fullUrl](${R4}/bundle-definitions.html#Bundle.entry.fullUrl) may repeat with another meta.versionId, so a search may find several versions of what others refer to.`,
  },
  {
    probes: /^siblings: (noReference\/idOnly|emptyObject\/codeId)$/,
    why: `[ele-1](${R4}/element.html#Element): an element has a value or children besides its id.`,
  },
  {
    probes: /^siblings: document(Entry|Slices)\/\w+\/narr$/,
    why: `[Images](${R4}/narrative.html#id) that do not resolve are a warning here, so that the resource conforms to its profile.`,
  },
  {
    probes: /^siblings: sliceOrder\/openAtEnd\//,
    why: `[slicing.rules](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.rules): openAtEnd has what is in no slice at the end.`,
  },
  {
    probes: /^siblings: noDiscriminator\//,
    why: `[discriminator](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.discriminator) may be absent, which makes the content hard to process, but not invalid: an element is in the slice whose rules it meets. For theirs it is in none.`,
  },
  {
    probes: /^siblings: score\//,
    why: `[measureScore](${R4}/measurereport-definitions.html#MeasureReport.group.measureScore) depends on the scoring, and a cohort has none; a [group.code](${R4}/measurereport-definitions.html#MeasureReport.group.code) may be a text.`,
  },
  {
    probes: /^siblings: form\/limit(Nested)?\/(text|date|attachment|reference)\//,
    why: `[minLength, regex, maxValue, maxSize and referenceResource](${R4}/questionnaire-profiles.html#extensions) limit answers: also those of type text, a date as far as both state it, a size with decimals, and a reference by the type that it names.`,
  },
  {
    probes: /^siblings: form\/occurs\/group\/undefined-1\//,
    why: `[repeats](${R4}/questionnaire-definitions.html#Questionnaire.item.repeats): a group occurs as often as its items, and maxOccurs limits that.`,
  },
  {
    probes: /^siblings: form\/enable\/(boolean|quantity)\//,
    why: `[operator](${R4}/questionnaire-definitions.html#Questionnaire.item.enableWhen.operator): a boolean has no order, so no comparison holds, and 5 mg are equal to 0.005 g.`,
  },
  {
    probes: /^(snapshots: snap\/prohib|integrators: author\/minOverMax|definitions r1: restr\/minMoreMax)$/,
    why: `[eld-2](${R4}/elementdefinition-definitions.html#ElementDefinition.min): the least number is not above the most, and a profile that states one of them inherits the other.`,
  },
  {
    probes: /^markup of narratives m1: attr\/(br\/clear|ol\/(start|type)|ul\/type|(table|tr|td|th)\/bgcolor|(td|th)\/height|th\/nowrap)$/,
    why: `[HTML 4](https://www.w3.org/TR/html401/index/attributes.html#h-3) has these attributes of breaks, lists and tables, in chapters that narratives may use.`,
  },
  {
    probes: /^markup of narratives m1: attr\/img\/src$/,
    why: `[Images](${R4}/narrative.html#id) that do not resolve are a warning, as examples of R4 have them.`,
  },
  {
    probes:
      /^contexts of extensions c1: element\/(BackboneElement\/(compRefRange|qItemItem)|Observation\.component\.referenceRange\/comp|Questionnaire\.item\.item\/qItem)$/,
    why: `[contentReference](${R4}/elementdefinition-definitions.html#ElementDefinition.contentReference): an element has the definition, so the type, of the one that it refers to; the context is that element, not the one around it.`,
  },
  {
    probes: /^contexts of extensions c1: element\/(Patient\.deceasedBoolean\/deceasedBoolean|http:.*#Observation\.code\/obsCode)$/,
    why: `[A context](${R4}/defining-extensions.html#context) may be a choice of one type, which theirs writes without capital for primitive types only, or an element of a profile: one that conforms to what the profile requires of it.`,
  },
  {
    probes: /^formats at their edges e1: (Base64Binary\/|String\/\w+\/a\\u0000|Time\/|\w+\/\w+\/urn:oid:)/,
    why: `[Primitive types](${R4}/datatypes.html#primitive) have their forms: base64 with white space, but padded at its end only, times with decimals, OIDs of two numbers, and no control characters.`,
  },
  {
    probes: /^formats at their edges e1: Uri\/(codeSystem|element)\//,
    why: `[uri](${R4}/datatypes.html#uri): systems are absolute, of any scheme; of relative ones theirs reports some.`,
  },
  {
    probes: /^formats at their edges e1: DateTime\/period\/2020-01-01T00:00:00\+1[34]/,
    why: `[Comparison](${FHIRPATH}/#comparison) of times in two zones is by the moment; the year of the start, 2019, is before it in any zone.`,
  },
  {
    probes: /^random profiles p1: r\/(26|923|1143)$/,
    why: `[discriminator](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.discriminator): slices may differ by any text of a pattern, and one that says nothing of an element that must exist in others has it or not.`,
  },
  {
    probes: /^random profiles p1: r\/62$/,
    why: `[openAtEnd](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.rules): what is in no slice comes after the slices.`,
  },
  {
    probes: /^random profiles p1: r\/(274|289|296|562|1010|1084|1205|1284)$/,
    why: `[maxLength](${R4}/elementdefinition-definitions.html#ElementDefinition.maxLength) counts the characters of markdown, too, and may be 0.`,
  },
  {
    probes: /^random profiles p1: r\/735$/,
    why: `[fixed](${R4}/elementdefinition-definitions.html#ElementDefinition.fixed[x]): a value with another coding is not the fixed one, so it is in no slice that has this.`,
  },
  {
    probes:
      /^random definitions d1: r\/(949|1116|1306|1490|784|923|1335|126|1242|1288|20|705|162|971|273|55|452|1351|246|732|1188|1249|961|574|1128|1462|336)$/,
    why: `[Bindings](${R4}/elementdefinition-definitions.html#ElementDefinition.binding), [limits](${R4}/elementdefinition-definitions.html#ElementDefinition.minValue[x]) and [lengths](${R4}/elementdefinition-definitions.html#ElementDefinition.maxLength) are for the types that have codes, an order or a length, whether the differential repeats the type or not.`,
  },
  {
    probes: /^random definitions d1: r\/(652|983|601|388|779|44|1209|64|1026|969|937)$/,
    why: `[discriminator](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.discriminator): the path leads to an element, and the [expression](${R4}/elementdefinition-definitions.html#ElementDefinition.constraint.expression) of a constraint is FHIRPath on the element, also where the snapshot leaves it out.`,
  },
  {
    probes: /^random definitions d1: r\/(1363|893|1056|808|585|216|1078)$/,
    why: `[Differentials](${R4}/profiling.html#snapshot) are applied in the order of the base, which is a warning; [ids](${R4}/element-definitions.html#Element.id) have no white space, and what does not repeat and has one type cannot be sliced.`,
  },
  {
    probes: /^random forms f1: r\/answers\/(10|68|409|573|614|705|820|1064|1138|1577|965|1377)$/,
    why: `[Cardinality](${R4}/questionnaire-definitions.html#Questionnaire.item.repeats): what has as many answers as the limit says is within it, and a whole number may have a limit with decimals.`,
  },
  {
    probes:
      /^random forms f1: r\/answers\/(16|425|444|510|669|854|892|1088|1132|1170|1249|1264|1321|1328|1385|1386|1388|1412|1501|1512|1513)$/,
    why: `[maxLength](${R4}/questionnaire-definitions.html#Questionnaire.item.maxLength) and the extensions next to it hold for every type of item that they are for.`,
  },
  {
    probes: /^random forms f1: r\/answers\/(809|1009|1108|1298|1433|1438)$/,
    why: `[operator](${R4}/questionnaire-definitions.html#Questionnaire.item.enableWhen.operator): days are compared by the numbers that both have, a date is not equal to a year, quantities in one unit have an order, and booleans have none.`,
  },
  {
    probes: /^random bundles b1: r\/[\w-]+\/(1|136|241|266|314|418|426|462|500|534|678|735|796|902|1049|1206|1379)$/,
    why: "Batches and transactions, also in R4's examples, have entries without fullUrl, so none is demanded; theirs demands it of some.",
    isLimit: true,
  },
  {
    probes: /^random bundles b1: r\/[\w-]+\/(53|104|580|588|661|778|806|844|847|925|947|1124|1193|1205|1240|1241|1306|1312|1318)$/,
    why: `[uuid](https://www.rfc-editor.org/rfc/rfc4122#section-3): the prefix and the digits of a UUID are read in either case.`,
  },
  {
    probes: /^random bundles b1: r\/[\w-]+\/(91|296|708)$/,
    why: `[fullUrl](${R4}/bundle-definitions.html#Bundle.entry.fullUrl) may repeat with another meta.versionId, so an answer may have several versions of what others refer to.`,
  },
  {
    probes: /^random bundles b1: r\/[\w-]+\/(140|636|676|721|768|1160)$/,
    why: `[References](${R4}/references.html#literal) name the type of their target, whether it is there or not, and one to a part of an entry leads to the entry, of which there must be one version.`,
  },
]
