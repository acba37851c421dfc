import type { ProbeDecision } from './probe-decisions.js'

const R4 = 'https://hl7.org/fhir/R4'
const HTML = 'https://www.w3.org/TR/html401'

/** Decisions on probes of definitions, and of rules with their own test, whose probes begin with `rule/` and the subject. */
export const DECIDED_OF_RULES: readonly ProbeDecision[] = [
  {
    probes: /w6: ext\/ctxInvUnk$/,
    why: `[contextInvariant](${R4}/structuredefinition-definitions.html#StructureDefinition.contextInvariant) may use %extension, which theirs does not know when it reads the expression.`,
  },
  {
    probes: /w6: b\/sig\/jwsNone$/,
    why: 'A signature without an algorithm [is not accepted as valid](https://www.rfc-editor.org/rfc/rfc7518#section-3.6); theirs only remarks on its header.',
  },
  {
    probes: /(sd6\/(active|name|contact|dec|org|ext|id|gender)\/(minVal|maxLen|bind\w+)$|rule\/demands: )/,
    why: `[eld-11](${R4}/elementdefinition.html#invs) and its like hold for elements whose type is stated by the base, too.`,
  },
  {
    probes:
      /(^definitions r1: disc\/|\/slicingBadD$|slice\/(badPath|unparse)$|rule\/discriminators: |snap5: disc\/\w+\/(foo|\$other|resolve\(\))\/sd$)/,
    why: `[discriminator.path](${R4}/elementdefinition-definitions.html#ElementDefinition.slicing.discriminator.path) leads to an element of what is sliced.`,
  },
  {
    probes: /(slice\/extNested$|rule\/slicing of extensions: )/,
    why: 'Theirs lets profiles slice the extensions of resources by other discriminators, but not those of data types.',
    isLimit: true,
  },
  {
    probes: /rule\/compliance: /,
    why: 'Theirs does not compare targets, limits and what is below slices, where a profile says that it complies with another.',
    isLimit: true,
  },
  { probes: /rule\/bindings: /, why: 'Theirs ends with an exception when a value set is not known and there is no server.', isLimit: true },
  {
    probes: /rule\/keys: /,
    why: `[constraint.key](${R4}/elementdefinition-definitions.html#ElementDefinition.constraint.key) identifies a constraint where it is; definitions of other types may use the same.`,
  },
  {
    probes: /rule\/signatures: /,
    why: 'The certificates of these tests have a key and nothing else, which theirs cannot read.',
    isLimit: true,
  },
  { probes: /(rule\/server: |q(vs|vsu|vsc|opt)\/(open-)?choice\/ver$)/, why: 'Theirs needs a server to know these codes.', isLimit: true },
  {
    probes: /rule\/circles: /,
    why: `[include.valueSet](${R4}/valueset-definitions.html#ValueSet.compose.include.valueSet): a value set that imports itself has no codes that can be found.`,
  },
  {
    probes: /rule\/parameters of value sets: /,
    why: "Theirs needs HL7's tools package to know the extension, and reads no names in back ticks.",
    isLimit: true,
  },
  {
    probes:
      /(me\/(cql|stratCql|suppCql|lib\/verNo)$|me\/lib\/(elmXml|elmJson|both)\/|rule\/criteria: |measures m2: (noLib|libUnk|quotedQ?)$)/,
    why: `[library](${R4}/measure-definitions.html#Measure.library): a measure need not have one, as an example of R4 shows; an unknown one is not reported. ELM may be JSON, and names may be quoted.`,
  },
  {
    probes: /(rule\/memberOf: |^further q8: expr\/error\/memberOf$)/,
    why: `[memberOf](${R4}/fhirpath.html#functions) cannot be evaluated for a value set that is not known, so the constraint is not broken.`,
  },
  { probes: /rule\/elementDefinition: /, why: `[elementDefinition()](${R4}/fhirpath.html#functions) is a function of FHIR.` },
  {
    probes: /rule\/schemes: /,
    why: '[A URI is absolute](https://www.rfc-editor.org/rfc/rfc3986#section-4.3) by its scheme; theirs knows some schemes.',
  },
  {
    probes: /rule\/global profiles: /,
    why: `[global](${R4}/implementationguide-definitions.html#ImplementationGuide.global) profiles hold for all resources of the type; theirs reads those of packages only.`,
  },
  {
    probes: /rule\/discriminating values: /,
    why: 'Theirs cannot tell slices apart by fixed dates.',
    isLimit: true,
  },
  {
    probes: /rule\/fragments: /,
    why: `[A canonical](${R4}/references.html#canonical) that leads to nothing contained is a warning where one of R4's own examples has such.`,
  },
  {
    probes: /rule\/sizes and units: /,
    why: 'Theirs does not look at the size of attachments, nor at the units that a profile allows.',
    isLimit: true,
  },
  {
    probes: /rule\/sections: /,
    why: `[lang](${HTML}/struct/dirlang.html#adef-lang) says the language of a section; theirs reads \`xml:lang\` only.`,
  },
  { probes: /rule\/lists: /, why: `[dd](${HTML}/struct/lists.html#edef-DD) may have blocks.` },
  { probes: /rule\/imposed profiles: /, why: 'Theirs does not apply what an imposed profile imposes.', isLimit: true },
  {
    probes: /rule\/properties: /,
    why: `[deprecated](${R4}/codesystem.html#defined-props) is a property that FHIR defines.`,
  },
  {
    probes: /rule\/counts: /,
    why: `[count](${R4}/codesystem-definitions.html#CodeSystem.count): that of a supplement is about the code system.`,
  },
  {
    probes: /rule\/displays: /,
    why: `[display](${R4}/datatypes-definitions.html#Coding.display): where the code system has none it cannot be wrong, and one that is outdated is a warning in HL7's tests of terminology.`,
  },
  {
    probes: /rule\/expressions: /,
    why: 'Theirs does not know the item in conditions of items, and takes one with unknown variables for false.',
    isLimit: true,
  },
  { probes: /(rule\/ids: |ext\/\w+\/idBad$)/, why: `[Element.id](${R4}/element.html#id) has no white space.` },
  {
    probes: /rule\/contexts: /,
    why: 'Theirs does not know MetadataResource, elements below the root of a profile, and takes a release for earlier than itself.',
    isLimit: true,
  },
  {
    probes: /(rule\/content references: |^guides q2: vsInc5\/)/,
    why: `[contentReference](${R4}/elementdefinition-definitions.html#ElementDefinition.contentReference) leads to an element of the definition that it names, with what that says.`,
  },
  {
    probes: /(rule\/unusable profiles: |snap5: (emptyDiff|noDiff|path\/(dotEnd|long64|digit|underscore|unknown|deep\w+|refDeep))\/inst$)/,
    why: `[differential](${R4}/structuredefinition-definitions.html#StructureDefinition.differential): a profile on elements that there are not cannot be applied, which is no reason to call a resource valid.`,
  },
  {
    probes: /sp\/ex\/base\/resourceP$/,
    why: '[Paths](https://hl7.org/fhirpath/N1/#path-selection) may begin with a type; one for all resources may be about some.',
  },
  {
    probes: /cap\/restSp$/,
    why: `[searchParam.type](${R4}/capabilitystatement-definitions.html#CapabilityStatement.rest.searchParam) is that of the definition, for parameters of all types of resources, too.`,
  },
  {
    probes: /json2\/underDiv$/,
    why: `[xhtml](${R4}/narrative.html#xhtml) may have an id.`,
  },
  {
    probes: /json2\/choiceTwoU$/,
    why: `[A choice](${R4}/formats.html#choice) has one type, also where one of two has extensions only.`,
  },
  {
    probes: /z\/typeSlClosed\/b$/,
    why: `[closed](${R4}/valueset-resource-slicing-rules.html#expansion) allows what is in the slices only.`,
  },
  {
    probes: /z\/(bundle|bundleRes|max0)\//,
    why: 'Theirs applies a part of a profile whose elements are out of order, or leave out the element around.',
    isLimit: true,
  },
  { probes: /z\/dar\//, why: 'Theirs does not find the value of a primitive element that a profile speaks of.', isLimit: true },
  {
    probes: /bb(TypeDiff2|Ref)\//,
    why: `[type](${R4}/elementdefinition-definitions.html#ElementDefinition.type): an element with elements of its own, or of another one, keeps its type.`,
  },
  {
    probes: /(context|ctx\/element)\/BackboneElement\/(obsRange|qItem)$/,
    why: `[contentReference](${R4}/elementdefinition-definitions.html#ElementDefinition.contentReference): the element is of the type of the one that it refers to.`,
  },
  {
    probes: /(context\/Patient\.deceasedBoolean\/deceased|ctx\/element\/Patient\.deceasedBoolean\/deceasedB)$/,
    why: 'Theirs allows one type of a choice as a context by its name in JSON, but looks for the names of primitive types in lower case.',
    isLimit: true,
  },
  {
    probes:
      /(context\/(Any\/|MetadataResource\/vs$)|defContext\/element\/(Base|http:\/\/hl7\.org\/fhir\/StructureDefinition\/patient-birthPlace#value)$)/,
    why: `[context.expression](${R4}/structuredefinition-definitions.html#StructureDefinition.context.expression) names an element or a type of R4, which has no Any and no Base; MetadataResource stands for those with a url and a status.`,
  },
  {
    probes:
      /(sm\/(transform\/(c|qty|id|cp|truncate|escape|cast|pointer|cc|evaluate)\/\d|translate\/two)|^maps r1: tf\/(?:(?!create|copy)\w+\/(?!zz)\w+))$/,
    why: `[Transforms](${R4}/valueset-map-transform.html#expansion) take the parameters that their definitions list; theirs does not look at many, wants three of \`translate\`, which has two, and no text alone for a CodeableConcept.`,
  },
  {
    probes: /(sm\/transform\/((copy|cc)\/unkVar|append\/unk)|^maps r1: tf\/\w+\/zz2?)$/,
    why: `[parameter](${R4}/structuremap-definitions.html#StructureMap.group.rule.target.parameter.value_x_): an id names a variable, which must be there.`,
  },
  {
    probes:
      /(sm\/(dependent\/(ok|imported|base|backbone)|transform\/evaluate\/path)|^maps r1: import\/(star|starMid|starPrefix|exact)\/Names)$/,
    why: 'Theirs does not see that a type is the one that is wanted where both are named without a url, and takes the target for the focus of an expression.',
    isLimit: true,
  },
  {
    probes:
      /(sm\/(group\/extendsUnkImp|dependent\/unkImp|default\/impUnk|target\/res\/http:__x.test_Foo)|^maps r1: (import\/(none|star(None|Two|PrefixNone|NoDefs))\/\w+|def\/primImport|create\/uzz\/undefined))$/,
    why: `[import](${R4}/structuremap-definitions.html#StructureMap.import): a group may be in a map that is not loaded, and a type in a definition that is not: what is not known is a warning.`,
  },
  {
    probes: /sm\/input\/structMode\/(queried|produced)\/\w+$/,
    why: `[mode](${R4}/valueset-map-model-mode.html#expansion): what may be queried is read, and what is produced is written.`,
  },
  {
    probes: /(sm\/group\/dup|^maps r1: dupGroup)$/,
    why: `[name](${R4}/structuremap-definitions.html#StructureMap.group.name): a group has a name of its own, by which it is called.`,
  },
  {
    probes: /sm\/import\/notMap$/,
    why: `[import](${R4}/structuremap-definitions.html#StructureMap.import) leads to maps, and to nothing else.`,
  },
  {
    probes: /sm\/source\/ctxUntyped$/,
    why: `[context](${R4}/structuremap-definitions.html#StructureMap.group.rule.source.context) is a type or a variable; R4's own example has one that is neither, in a group without types, so it is a warning there.`,
  },
  {
    probes: /(sm\/target\/choice\/create(Other|Unk)|^maps r1: (tf\/)?create\/.*)$/,
    why: `[type](${R4}/elementdefinition-definitions.html#ElementDefinition.type): what is created for an element is of one of its types.`,
  },
  {
    probes: /(sm\/translate\/contained(Unk)?|^maps r1: cm\/contained(None)?)$/,
    why: `[translate](${R4}/valueset-map-transform.html#expansion) names a map, which may be contained, and is referred to by that.`,
  },
  {
    probes: /ref\/(document|collection)\/(under|type|long)$/,
    why: `[A literal reference](${R4}/references.html#literal) that is relative is a type of resource and an id, each in its form.`,
  },
  { probes: /xver\/(noChange3?|same|ok(3|4b|5))$/, why: 'Theirs needs the definitions of the other release.', isLimit: true },
  {
    probes: /sec\/none$/,
    why: `[security](${R4}/resource-definitions.html#Meta.security): labels without a code are not the same for that.`,
  },
  {
    probes: /(snap\/root\/(fixed|pattern|defaultValue)String|spec\/rootFixed)$/,
    why: `[fixed\\[x\\]](${R4}/elementdefinition-definitions.html#ElementDefinition.fixed_x_) is the value of the element in instances; the first element is the resource itself, not a text.`,
  },
  {
    probes: /bp\/patFixOther$/,
    why: `[pattern\\[x\\]](${R4}/elementdefinition-definitions.html#ElementDefinition.pattern_x_): the pattern of the base holds in profiles on it, so a fixed value fits it.`,
  },
  { probes: /on\/nameOk\//, why: 'Theirs takes the family name for a given name, a prefix and a suffix, too.', isLimit: true },
  {
    probes: /on\/tgt\/two$/,
    why: `[targetProfile](${R4}/elementdefinition-definitions.html#ElementDefinition.type.targetProfile): the target fits one of the profiles.`,
  },
  {
    probes: /b\/expUnk\/Coding\/(extensible|preferred)$/,
    why: `[An extensible binding](${R4}/terminologies.html#extensible) allows other codes, and a preferred one any.`,
  },
  {
    probes: /doc\/style\/urn:/,
    why: `[A document](${R4}/documents.html#presentation) may have style sheets, to which a link of the Bundle leads.`,
  },
  {
    probes: /refType\/http:\/\/hl7\.org\/fhir\/StructureDefinition\/Patient\/urn:/,
    why: `[type](${R4}/references-definitions.html#Reference.type) of a reference is absolute for logical models only.`,
  },
  {
    probes: /url\/\w+\/http:\/\/hl7\.org\/fhir\/(us\/core|tools)\//,
    why: `[An extension](${R4}/extensibility.html#extension) that is not known is no reason to refuse a resource; R4's own examples have some of US Core, and tools that publish write theirs.`,
  },
  {
    probes: /url\/in\/HTTP:/,
    why: 'Theirs does not look for the definition of an extension inside of one whose url is in capitals.',
    isLimit: true,
  },
  {
    probes: /qq\/\w+\/(\w+\/(noValue|comparator)|noVal\/\w+)$/,
    why: 'Theirs ends with an exception when the answer or the limit has no value, and when the answer has a comparator.',
    isLimit: true,
  },
  {
    probes: /qq\/\w+\/(kg\/bad|bad\/\w+)$/,
    why: `[code](${R4}/datatypes-definitions.html#Quantity.code) of a Quantity that is not understood is not compared; one that UCUM lacks is a warning.`,
  },
  {
    probes: /qq\/maxQuantity\/none\/none$/,
    why: 'Theirs compares numbers without units with the minimum, but not with the maximum.',
    isLimit: true,
  },
  {
    probes: /qreq\/[a-z-]+\/minOccurs$/,
    why: `[status](${R4}/questionnaireresponse-definitions.html#QuestionnaireResponse.status): further answers are expected while it is in progress, and not any more when it is stopped.`,
  },
]
