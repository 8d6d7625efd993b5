import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/**
 * Full-domain generalization by ARX: read a CSV file, search for the levels of least loss that give
 * k-anonymity and distinct l-diversity without suppression, write the result.
 *
 * Arguments: source, target, folder of hierarchies, k, l, a sensitive and an insensitive attribute,
 * quasi-identifiers.
 */
public final class FullDomainByArx {
    public static void main(String[] arguments) throws Exception {
        String sensitive = arguments[5];
        Data data = Data.create(arguments[0], StandardCharsets.UTF_8, ',');
        data.getDefinition().setAttributeType(sensitive, AttributeType.SENSITIVE_ATTRIBUTE);
        data.getDefinition().setAttributeType(
            arguments[6], AttributeType.INSENSITIVE_ATTRIBUTE);
        for (int place = 7; place < arguments.length; place++) {
            String file = Path.of(arguments[2], arguments[place] + ".csv").toString();
            data.getDefinition().setAttributeType(
                arguments[place],
                AttributeType.Hierarchy.create(file, StandardCharsets.UTF_8, ';'));
        }
        ARXConfiguration configuration = ARXConfiguration.create();
        configuration.addPrivacyModel(new KAnonymity(Integer.parseInt(arguments[3])));
        configuration.addPrivacyModel(
            new DistinctLDiversity(sensitive, Integer.parseInt(arguments[4])));
        configuration.setSuppressionLimit(0d);
        configuration.setQualityModel(Metric.createLossMetric());
        ARXResult result = new ARXAnonymizer().anonymize(data, configuration);
        if (!result.isResultAvailable()) {
            throw new IllegalStateException("ARX found no solution");
        }
        result.getOutput(false).save(arguments[1], ',');
    }
}
