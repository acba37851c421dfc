package dev.fhirops.oracle;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.Map;
import org.hl7.fhir.r5.utils.validation.BundleValidationRule;
import org.hl7.fhir.r5.utils.validation.constants.BestPracticeWarningLevel;
import org.hl7.fhir.r5.utils.validation.constants.IdStatus;
import org.hl7.fhir.validation.instance.InstanceValidator;
import org.hl7.fhir.validation.service.model.HtmlInMarkdownCheck;
import org.hl7.fhir.validation.service.utils.QuestionnaireMode;

/** Settings of the validator by the names that its test suite has for them. Others are refused. */
final class Settings {
  private Settings() {}

  static void apply(JsonObject options, InstanceValidator validator) {
    for (Map.Entry<String, JsonElement> option : options.entrySet()) {
      apply(option.getKey(), option.getValue(), validator);
    }
  }

  private static void apply(String name, JsonElement value, InstanceValidator validator) {
    switch (name) {
      case "assumeValidRestReferences" -> validator.setAssumeValidRestReferences(value.getAsBoolean());
      case "examples" -> validator.setAllowExamples(value.getAsBoolean());
      case "security-checks" -> validator.setSecurityChecks(value.getAsBoolean());
      case "noHtmlInMarkdown" -> validator.setHtmlInMarkdownCheck(value.getAsBoolean() ? HtmlInMarkdownCheck.ERROR : HtmlInMarkdownCheck.WARNING);
      case "for-publication" -> validator.setForPublication(value.getAsBoolean());
      case "no-experimental-content" -> validator.setNoExperimentalContent(value.getAsBoolean());
      case "best-practice" -> validator.setBestPracticeWarningLevel(bestPractice(value.getAsString()));
      case "questionnaire" -> validator.setQuestionnaireMode(QuestionnaireMode.fromCode(value.getAsString()));
      case "extensible-binding-warnings" -> validator.setNoExtensibleWarnings(!value.getAsBoolean());
      case "must-support" -> validator.setHintAboutNonMustSupport(value.getAsBoolean());
      case "resource-id-rule" -> validator.setResourceIdRule(IdStatus.fromCode(value.getAsString()));
      case "bundle" -> {
        for (JsonElement rule : value.getAsJsonArray()) {
          JsonObject parts = rule.getAsJsonObject();
          validator.getBundleValidationRules().add(
              new BundleValidationRule().setRule(parts.get("rule").getAsString()).setProfile(parts.get("profile").getAsString()));
        }
      }
      case "any-extensions" -> validator.setAnyExtensionsAllowed(value.getAsBoolean());
      default -> throw new IllegalArgumentException("Unknown option " + name);
    }
  }

  private static BestPracticeWarningLevel bestPractice(String level) {
    return switch (level) {
      case "ignore" -> BestPracticeWarningLevel.Ignore;
      case "hint" -> BestPracticeWarningLevel.Hint;
      case "warning" -> BestPracticeWarningLevel.Warning;
      case "error" -> BestPracticeWarningLevel.Error;
      default -> throw new IllegalArgumentException("Unknown level " + level);
    };
  }
}
