package dev.fhirops.measureoracle;

import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.context.support.DefaultProfileValidationSupport;
import ca.uhn.fhir.parser.IParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.stream.StreamSupport;
import org.hl7.fhir.instance.model.api.IBaseResource;
import org.hl7.fhir.r4.model.Bundle;
import org.hl7.fhir.r4.model.IdType;
import org.hl7.fhir.r4.model.Parameters;
import org.opencds.cqf.fhir.cql.EvaluationSettings;
import org.opencds.cqf.fhir.cql.engine.retrieve.RetrieveSettings.SEARCH_FILTER_MODE;
import org.opencds.cqf.fhir.cql.engine.retrieve.RetrieveSettings.TERMINOLOGY_FILTER_MODE;
import org.opencds.cqf.fhir.cql.engine.terminology.TerminologySettings.VALUESET_EXPANSION_MODE;
import org.opencds.cqf.fhir.cr.CrSettings;
import org.opencds.cqf.fhir.cr.cql.CqlProcessor;
import org.opencds.cqf.fhir.cr.library.LibraryProcessor;
import org.opencds.cqf.fhir.cr.measure.MeasureEvaluationOptions;
import org.opencds.cqf.fhir.cr.measure.common.MeasurePeriodValidator;
import org.opencds.cqf.fhir.cr.measure.r4.R4DataRequirementsService;
import org.opencds.cqf.fhir.cr.measure.r4.R4MultiMeasureService;
import org.opencds.cqf.fhir.utility.monad.Eithers;
import org.opencds.cqf.fhir.utility.repository.InMemoryFhirRepository;

/**
 * Reads a line of JSON for each call from standard input, and writes a line with what it answered: a resource, or {@code {"error": ...}}. A line with
 * a Bundle says over which resources the calls after it are made.
 */
public final class Oracle {
  private static final FhirContext FHIR = FhirContext.forR4Cached();
  private static final IParser PARSER = FHIR.newJsonParser();
  private static final ObjectMapper JSON = new ObjectMapper();

  private final InMemoryFhirRepository repository;
  private final EvaluationSettings settings = EvaluationSettings.getDefault();

  private Oracle(Bundle resources) {
    repository = new InMemoryFhirRepository(FHIR, resources);
    settings.getRetrieveSettings().setTerminologyParameterMode(TERMINOLOGY_FILTER_MODE.FILTER_IN_MEMORY);
    settings.getRetrieveSettings().setSearchParameterMode(SEARCH_FILTER_MODE.FILTER_IN_MEMORY);
    settings.getTerminologySettings().setValuesetExpansionMode(VALUESET_EXPANSION_MODE.PERFORM_NAIVE_EXPANSION);
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    // The engine writes there, too.
    System.setOut(System.err);
    FHIR.setValidationSupport(new DefaultProfileValidationSupport(FHIR));
    BufferedReader calls = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Oracle oracle = new Oracle(new Bundle());
    for (String line = calls.readLine(); line != null; line = calls.readLine()) {
      JsonNode call = JSON.readTree(line);
      if (call.has("resourceType")) oracle = new Oracle(PARSER.parseResource(Bundle.class, line));
      else out.println(oracle.answer(call));
    }
    System.exit(0);
  }

  private String answer(JsonNode call) {
    try {
      return PARSER.encodeResourceToString(answerOf(call));
    } catch (Throwable failure) {
      return JSON.createObjectNode().put("error", failure.getClass().getSimpleName() + ": " + failure.getMessage()).toString();
    }
  }

  private IBaseResource answerOf(JsonNode call) {
    Parameters parameters =
        call.has("parameters") ? PARSER.parseResource(Parameters.class, call.get("parameters").toString()) : null;
    CrSettings cr = CrSettings.getDefault().withEvaluationSettings(settings);
    IBaseResource none = null;
    switch (text(call, "operation")) {
      case "evaluate-measure":
        return measureReport(call, parameters);
      case "data-requirements":
        return call.has("measure")
            ? new R4DataRequirementsService(repository, options())
                .dataRequirements(new IdType("Measure", text(call, "measure")), text(call, "periodStart"), text(call, "periodEnd"))
            : new LibraryProcessor(repository, cr)
                .dataRequirements(Eithers.forMiddle3(new IdType("Library", text(call, "library"))), parameters);
      case "library-evaluate":
        List<String> names =
            StreamSupport.stream(call.path("expressions").spliterator(), false).map(JsonNode::asText).toList();
        return new LibraryProcessor(repository, cr)
            .evaluate(
                Eithers.forMiddle3(new IdType("Library", text(call, "library"))),
                text(call, "subject"),
                names.isEmpty() ? null : names,
                parameters,
                true,
                null,
                null,
                none,
                none,
                none);
      default:
        return new CqlProcessor(repository, cr)
            .evaluate(text(call, "subject"), text(call, "expression"), parameters, null, true, null, null, null, none, none, none);
    }
  }

  private IBaseResource measureReport(JsonNode call, Parameters parameters) {
    return new R4MultiMeasureService(repository, options(), "http://localhost/fhir", new MeasurePeriodValidator())
        .evaluate(
            Eithers.forMiddle3(new IdType("Measure", text(call, "measure"))),
            moment(text(call, "periodStart"), false),
            moment(text(call, "periodEnd"), true),
            text(call, "reportType"),
            text(call, "subject"),
            null,
            null,
            null,
            null,
            null,
            parameters,
            null,
            text(call, "practitioner"));
  }

  private MeasureEvaluationOptions options() {
    MeasureEvaluationOptions options = MeasureEvaluationOptions.defaultOptions();
    options.setEvaluationSettings(settings);
    return options;
  }

  private static String text(JsonNode call, String name) {
    return call.has(name) ? call.get(name).asText() : null;
  }

  /** The first or last millisecond of a date, or a time as it is. */
  private static ZonedDateTime moment(String text, boolean isEnd) {
    if (text == null) return null;
    if (text.length() > 10) return OffsetDateTime.parse(text).toZonedDateTime();
    LocalDate day =
        switch (text.length()) {
          case 4 -> isEnd ? Year.parse(text).atMonth(12).atEndOfMonth() : Year.parse(text).atDay(1);
          case 7 -> isEnd ? YearMonth.parse(text).atEndOfMonth() : YearMonth.parse(text).atDay(1);
          default -> LocalDate.parse(text);
        };
    return (isEnd ? day.plusDays(1).atStartOfDay().minusNanos(1_000_000) : day.atStartOfDay()).atZone(ZoneOffset.UTC);
  }
}
