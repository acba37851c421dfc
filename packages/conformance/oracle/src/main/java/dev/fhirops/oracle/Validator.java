package dev.fhirops.oracle;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.hl7.fhir.r5.model.Resource;
import org.hl7.fhir.r5.utils.validation.constants.BestPracticeWarningLevel;
import org.hl7.fhir.r5.utils.validation.constants.ReferenceValidationPolicy;
import org.hl7.fhir.utilities.validation.ValidationMessage;
import org.hl7.fhir.validation.ValidationEngine;
import org.hl7.fhir.validation.instance.InstanceValidator;
import org.hl7.fhir.validation.instance.advisor.BasePolicyAdvisorForFullValidation;

/**
 * HL7's validator for R4, with its terminology and extensions packages, without any server. Settings are those of its own test suite: URLs of examples are
 * allowed, best practices and references that lead elsewhere are not looked at.
 */
final class Validator {
  private static final String CORE = "hl7.fhir.r4.core#4.0.1";

  private final ValidationEngine engine;
  private int broughtCount;

  Validator(Path packages, List<Path> more) throws Exception {
    engine = new ValidationEngine.ValidationEngineBuilder()
        .withVersion("4.0.1")
        .withNoTerminologyServer()
        .withCanRunWithoutTerminologyServer(true)
        .withThoVersion(versionOf(packages, "hl7.terminology.r4"))
        .withExtensionsVersion(versionOf(packages, "hl7.fhir.uv.extensions.r4"))
        .fromSource(CORE);
    for (Path archive : more) {
      engine.getIgLoader().loadIg(engine.getIgs(), engine.getBinaries(), archive.toString(), true);
    }
    engine.setPolicyAdvisor(new BasePolicyAdvisorForFullValidation(ReferenceValidationPolicy.IGNORE, Set.of()));
    engine.prepare();
  }

  private static String versionOf(Path packages, String id) {
    String[] found = packages.toFile().list((folder, name) -> name.startsWith(id + "#"));
    if (found == null || found.length != 1) {
      throw new IllegalStateException("There must be one archive of " + id + ".");
    }
    return found[0].substring(id.length() + 1);
  }

  /** One line of JSON: {@code {"id", "ms", "issues": [{"severity", "code", "id", "expression", "text"}]}}, or with {@code "failure"}. */
  String answer(Request request) {
    JsonObject answer = new JsonObject();
    answer.addProperty("id", request.id());
    List<Resource> brought = new ArrayList<>();
    try {
      for (String definition : request.definitions()) {
        brought.add(bring(definition));
      }
      long start = System.nanoTime();
      List<ValidationMessage> messages = messagesAbout(request);
      answer.addProperty("ms", Math.round((System.nanoTime() - start) / 1e5) / 10.0);
      answer.add("issues", issuesOf(messages));
    } catch (Throwable e) {
      answer.addProperty("failure", e.toString());
    } finally {
      for (Resource resource : brought) {
        engine.dropResource(resource.fhirType(), resource.getIdBase());
      }
    }
    return answer.toString();
  }

  private Resource bring(String definition) throws IOException {
    Resource resource = engine.getIgLoader().loadResourceByVersion("4.0.1", definition.getBytes(StandardCharsets.UTF_8), "definition.json");
    // Resources are dropped by their ids, which those of packages may share.
    resource.setId("brought-" + ++broughtCount);
    engine.seeResource(resource);
    return resource;
  }

  private List<ValidationMessage> messagesAbout(Request request) throws Exception {
    List<ValidationMessage> messages = new ArrayList<>();
    InstanceValidator validator = engine.getValidator(request.format());
    validator.setAllowExamples(true);
    validator.setBestPracticeWarningLevel(BestPracticeWarningLevel.Ignore);
    Settings.apply(request.options(), validator);
    validator.validate(
        null, messages, new ByteArrayInputStream(request.text().getBytes(StandardCharsets.UTF_8)), request.format(), engine.asSdList(request.profiles()));
    return messages;
  }

  private static JsonArray issuesOf(List<ValidationMessage> messages) {
    JsonArray issues = new JsonArray();
    Set<String> seen = new HashSet<>();
    for (ValidationMessage message : messages) {
      JsonObject issue = new JsonObject();
      issue.addProperty("severity", message.getLevel().toCode());
      issue.addProperty("code", message.getType().toCode());
      issue.addProperty("id", message.getMessageId());
      issue.addProperty("expression", message.getLocation());
      issue.addProperty("text", message.getMessage());
      if (seen.add(issue.toString())) {
        issues.add(issue);
      }
    }
    return issues;
  }
}
