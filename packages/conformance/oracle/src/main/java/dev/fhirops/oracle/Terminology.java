package dev.fhirops.oracle;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.Set;
import org.hl7.fhir.convertors.factory.VersionConvertorFactory_40_50;
import org.hl7.fhir.r5.context.IWorkerContext.VersionResolutionRules;
import org.hl7.fhir.r5.context.SimpleWorkerContext;
import org.hl7.fhir.r5.model.CodeSystem;
import org.hl7.fhir.r5.model.CodeableConcept;
import org.hl7.fhir.r5.model.Coding;
import org.hl7.fhir.r5.model.ConceptMap;
import org.hl7.fhir.r5.model.OperationOutcome.IssueSeverity;
import org.hl7.fhir.r5.model.OperationOutcome.OperationOutcomeIssueComponent;
import org.hl7.fhir.r5.model.Parameters;
import org.hl7.fhir.r5.model.Parameters.ParametersParameterComponent;
import org.hl7.fhir.r5.model.Resource;
import org.hl7.fhir.r5.model.ValueSet;
import org.hl7.fhir.r5.terminologies.CodeSystemUtilities;
import org.hl7.fhir.r5.terminologies.ConceptTranslationEngine;
import org.hl7.fhir.r5.terminologies.expansion.ValueSetExpander;
import org.hl7.fhir.r5.terminologies.expansion.ValueSetExpansionOutcome;
import org.hl7.fhir.r5.terminologies.utilities.TerminologyOperationContext;
import org.hl7.fhir.r5.terminologies.utilities.ValidationResult;
import org.hl7.fhir.utilities.FhirPublication;
import org.hl7.fhir.utilities.validation.ValidationMessage;
import org.hl7.fhir.utilities.validation.ValidationOptions;

/** Terminology of one line, known to a context that knows nothing else and has no server. */
final class Terminology {
  private static final Set<String> VERSION_PARAMETERS = Set.of(
      "default-valueset-version", "system-version", "force-system-version", "check-system-version", "useSupplement");

  private final SimpleWorkerContext context;

  Terminology(JsonArray resources) throws Exception {
    context = new SimpleWorkerContext.SimpleWorkerContextBuilder().withAllowLoadingDuplicates(true).fromNothing();
    context.setAllowLoadingDuplicates(true);
    // What is kept of one question must not answer another.
    context.setCachingAllowed(false);
    context.setCanRunWithoutTerminology(true);
    context.setNoTerminologyServer(true);
    context.setExpansionParameters(new Parameters());
    for (JsonElement resource : resources) {
      context.cacheResource(resourceOf(resource));
    }
  }

  JsonObject answer(JsonObject question) {
    JsonObject answer = new JsonObject();
    try {
      Parameters parameters = (Parameters) resourceOf(question.get("parameters"));
      switch (question.get("operation").getAsString()) {
        case "expand" -> expand(parameters, answer);
        case "validate-code" -> validate(parameters, valueSetOf(parameters), false, answer);
        case "validate-code-in-system" -> validate(parameters, null, true, answer);
        case "subsumes" -> subsumes(parameters, answer);
        case "translate" -> translate(parameters, answer);
        default -> throw new IllegalArgumentException("Unknown operation " + question.get("operation"));
      }
    } catch (Throwable e) {
      answer.addProperty("failure", e.toString());
    }
    return answer;
  }

  private void expand(Parameters parameters, JsonObject answer) throws Exception {
    ValidationOptions options = new ValidationOptions(FhirPublication.R5);
    ValueSetExpander expander = new ValueSetExpander(context, new TerminologyOperationContext(context, options, "expand"));
    expander.setNoTerminologyServer(true);
    ValueSetExpansionOutcome outcome = expander.expand(valueSetOf(parameters), parameters);
    if (outcome.getError() != null) {
      answer.addProperty("error", outcome.getError());
    } else {
      JsonObject expanded = JsonParser.parseString(textOf(outcome.getValueset())).getAsJsonObject();
      answer.add("expansion", expanded.get("expansion"));
    }
  }

  private void validate(Parameters parameters, ValueSet valueSet, boolean inSystem, JsonObject answer) {
    ValidationOptions options = optionsOf(parameters);
    Parameters kept = new Parameters();
    for (ParametersParameterComponent parameter : parameters.getParameter()) {
      if (VERSION_PARAMETERS.contains(parameter.getName())) {
        kept.addParameter(parameter.copy());
      }
    }
    context.getManager().setExpansionParameters(kept);
    ValidationResult result;
    if (parameters.hasParameter("codeableConcept")) {
      result = context.validateCode(options, (CodeableConcept) parameters.getParameterValue("codeableConcept"), valueSet);
    } else if (parameters.hasParameter("coding")) {
      result = context.validateCode(options, (Coding) parameters.getParameterValue("coding"), valueSet);
    } else {
      boolean infers = !inSystem && "true".equals(parameters.getParameterString("inferSystem"));
      result = context.validateCode(
          infers ? options.withGuessSystem() : options,
          parameters.getParameterString(inSystem ? "url" : "system"),
          parameters.getParameterString(inSystem ? "version" : "systemVersion"),
          parameters.getParameterString("code"),
          parameters.getParameterString("display"),
          valueSet);
    }
    tell(result, answer);
  }

  private static ValidationOptions optionsOf(Parameters parameters) {
    ValidationOptions options = new ValidationOptions(FhirPublication.R5);
    if (parameters.hasParameter("displayLanguage")) {
      options = options.withLanguage(parameters.getParameterString("displayLanguage"));
    }
    if ("true".equals(parameters.getParameterString("valueset-membership-only"))) {
      options = options.withCheckValueSetOnly();
    }
    if ("true".equals(parameters.getParameterString("lenient-display-validation"))) {
      options = options.setDisplayWarningMode(true);
    }
    if ("true".equals(parameters.getParameterString("activeOnly"))) {
      options = options.setActiveOnly(true);
    }
    if ("false".equals(parameters.getParameterString("abstract"))) {
      options = options.setNoAbstract(true);
    }
    return options;
  }

  private static void tell(ValidationResult result, JsonObject answer) {
    // Where it answers a request, such a result is an OperationOutcome.
    if (result.getSeverity() == ValidationMessage.IssueSeverity.FATAL) {
      answer.addProperty("error", result.getMessage());
      return;
    }
    boolean isWrong = result.getSeverity() != null && result.getSeverity().isError();
    answer.addProperty("system", result.getSystem());
    answer.addProperty("code", result.getCode());
    answer.addProperty("version", result.getVersion());
    answer.addProperty("display", result.getDisplay());
    answer.addProperty("message", result.getMessage());
    if (result.isInactive()) {
      answer.addProperty("inactive", true);
    }
    answer.addProperty("status", result.getStatus());
    JsonArray issues = new JsonArray();
    for (OperationOutcomeIssueComponent issue : result.getIssues()) {
      JsonObject told = new JsonObject();
      told.addProperty("severity", issue.getSeverity().toCode());
      told.addProperty("code", issue.getCode().toCode());
      told.addProperty("type", issue.getDetails().getCodingFirstRep().getCode());
      told.addProperty("id", issue.getExtensionString("http://hl7.org/fhir/StructureDefinition/operationoutcome-message-id"));
      told.addProperty("expression", issue.hasExpression() ? issue.getExpression().get(0).getValue() : null);
      told.addProperty("text", issue.getDetails().getText());
      issues.add(told);
      isWrong = isWrong || issue.getSeverity() == IssueSeverity.ERROR || issue.getSeverity() == IssueSeverity.FATAL;
    }
    answer.addProperty("result", !isWrong);
    answer.add("issues", issues);
  }

  private void subsumes(Parameters parameters, JsonObject answer) {
    CodeSystem system = context.fetchCodeSystem(parameters.getParameterString("system"), VersionResolutionRules.defaultRule());
    CodeSystemUtilities.crossLinkCodeSystem(system);
    String a = parameters.getParameterString("codeA");
    String b = parameters.getParameterString("codeB");
    answer.addProperty("aSubsumesB", CodeSystemUtilities.subsumes(system, a, b));
    answer.addProperty("bSubsumesA", CodeSystemUtilities.subsumes(system, b, a));
  }

  private void translate(Parameters parameters, JsonObject answer) throws Exception {
    ConceptMap map =
        context.fetchResource(ConceptMap.class, parameters.getParameterString("url"), VersionResolutionRules.defaultRule());
    Coding coding = new Coding()
        .setSystem(parameters.getParameterString("system"))
        .setVersion(parameters.getParameterString("version"))
        .setCode(parameters.getParameterString("code"));
    Parameters translated = new ConceptTranslationEngine(context).translateCoding(coding, map);
    answer.add("translation", JsonParser.parseString(textOf(translated)));
  }

  private ValueSet valueSetOf(Parameters parameters) {
    String canonical = parameters.getParameterString("url");
    ValueSet found = context.fetchResource(ValueSet.class, canonical, VersionResolutionRules.defaultRule());
    if (found == null) {
      throw new IllegalArgumentException("Unknown value set " + canonical);
    }
    return found;
  }

  private static Resource resourceOf(JsonElement json) throws Exception {
    return VersionConvertorFactory_40_50.convertResource(new org.hl7.fhir.r4.formats.JsonParser().parse(json.toString()));
  }

  private static String textOf(Resource resource) throws Exception {
    return new org.hl7.fhir.r5.formats.JsonParser().composeString(resource);
  }
}
