select age, zip, sex, diagnosis, income from {{ ref('people') }}
