package dev.fhirops.cqloracle;

import java.io.ByteArrayInputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.cqframework.cql.cql2elm.CqlCompilerOptions;
import org.cqframework.cql.cql2elm.LibraryManager;
import org.cqframework.cql.cql2elm.ModelManager;
import org.hl7.elm.r1.ExpressionDef;
import org.hl7.elm.r1.VersionedIdentifier;
import org.opencds.cqf.cql.engine.execution.CqlEngine;
import org.opencds.cqf.cql.engine.execution.Environment;
import org.opencds.cqf.cql.engine.runtime.Date;
import org.opencds.cqf.cql.engine.runtime.DateTime;
import org.opencds.cqf.cql.engine.runtime.Interval;
import org.opencds.cqf.cql.engine.runtime.Quantity;
import org.opencds.cqf.cql.engine.runtime.Ratio;
import org.opencds.cqf.cql.engine.runtime.Time;

/** Reads a library from standard input, and writes the name and value of each definition on a line. */
public final class Oracle {
  private static final ZonedDateTime NOW = ZonedDateTime.parse("2024-02-29T12:00:00Z");
  private static final Set<String> CALENDAR =
      Set.of("year", "month", "week", "day", "hour", "minute", "second", "millisecond");

  private Oracle() {}

  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    // The engine writes there, too.
    System.setOut(System.err);
    byte[] source = System.in.readAllBytes();
    LibraryManager libraries = new LibraryManager(new ModelManager(), CqlCompilerOptions.defaultOptions());
    libraries.getLibrarySourceLoader().registerProvider(id -> new ByteArrayInputStream(source));
    Environment environment = new Environment(libraries);
    VersionedIdentifier id = new VersionedIdentifier().withId("T").withVersion("1");
    for (ExpressionDef definition : environment.resolveLibrary(id).getStatements().getDef()) {
      out.println(definition.getName() + "\t" + answer(environment, id, definition.getName()));
    }
  }

  private static String answer(Environment environment, VersionedIdentifier id, String name) {
    try {
      CqlEngine engine = new CqlEngine(environment);
      return text(engine.evaluate(id, Set.of(name), null, null, null, NOW).forExpression(name).value());
    } catch (Exception exception) {
      return ("ERROR " + exception.getMessage()).replaceAll("\\s+", " ");
    }
  }

  /** A value as a CQL literal. */
  private static String text(Object value) {
    if (value == null) return "null";
    if (value instanceof Long) return value + "L";
    if (value instanceof BigDecimal number) return decimal(number);
    if (value instanceof String string) return quoted(string);
    if (value instanceof Quantity quantity) return decimal(quantity.getValue()) + " " + unit(quantity.getUnit());
    if (value instanceof Ratio ratio) return text(ratio.getNumerator()) + ":" + text(ratio.getDenominator());
    if (value instanceof DateTime moment) return "@" + moment + (moment.toString().contains("T") ? "" : "T");
    if (value instanceof Date) return "@" + value;
    if (value instanceof Time time) return time.toString().startsWith("T") ? "@" + time : "@T" + time;
    if (value instanceof Interval interval) {
      String ends = text(interval.getLow()) + ", " + text(interval.getHigh());
      return "Interval" + (interval.getLowClosed() ? "[" : "(") + ends + (interval.getHighClosed() ? "]" : ")");
    }
    if (value instanceof Iterable<?> list) {
      List<String> items = StreamSupport.stream(list.spliterator(), false).map(Oracle::text).collect(Collectors.toList());
      return items.isEmpty() ? "{}" : "{ " + String.join(", ", items) + " }";
    }
    return value.toString();
  }

  private static String decimal(BigDecimal number) {
    BigDecimal plain = number.stripTrailingZeros();
    return (plain.scale() < 1 ? plain.setScale(1) : plain).toPlainString();
  }

  private static String unit(String unit) {
    if (unit == null) return "'1'";
    String singular = unit.endsWith("s") ? unit.substring(0, unit.length() - 1) : unit;
    return CALENDAR.contains(singular) ? singular : quoted(unit);
  }

  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
